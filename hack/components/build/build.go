package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Builder builds the programs of a module, and keeps them.
type Builder struct {
	// Name begins the name of the folder with the programs. Example: kubernetes.
	Name string
	// Source is the folder of the module.
	Source string
	// Cache is the folder with one folder per build.
	Cache string
	// Packages are the programs. Each binary has the name of its package's folder.
	Packages []string
	// LinkerFlags are more than those that leave out the symbol table.
	LinkerFlags []string
	// NotInlined are patterns of packages in which no call is inlined, which takes a quarter less
	// time to compile. Example: k8s.io/kubectl/... .
	NotInlined []string
	// Links are further names of a binary, by name.
	Links map[string]string
	// Progress gets the progress of the build. It may be nil.
	Progress func(Progress)
}

// DefaultCache is LOADTEST_CACHE or, without it, a folder in the user's home.
func DefaultCache() (string, error) {
	if folder := os.Getenv("LOADTEST_CACHE"); folder != "" {
		return filepath.Abs(folder)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (set LOADTEST_CACHE): %w", err)
	}
	return filepath.Join(home, ".cache", "loadtest-operator"), nil
}

// Build returns the folder with the programs, and builds them first unless
// they have been.
func (b Builder) Build(ctx context.Context) (folder string, err error) {
	flags := b.flags()
	goVersion, err := b.run(ctx, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	sum, err := hash(os.DirFS(b.Source), append(flags, goVersion, runtime.GOARCH)...)
	if err != nil {
		return "", err
	}
	folder = filepath.Join(b.Cache, b.Name+"-"+sum)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	return folder, b.fill(ctx, folder, flags)
}

// fill builds beside the final folder and renames, so that a folder with the
// final name is never half full.
func (b Builder) fill(ctx context.Context, folder string, flags []string) error {
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	partial, err := os.MkdirTemp(b.Cache, "partial-")
	if err != nil {
		return fmt.Errorf("make the build folder: %w", err)
	}
	defer os.RemoveAll(partial)
	if err := os.Chmod(partial, 0o755); err != nil { // MkdirTemp's is closed to others
		return fmt.Errorf("open the build folder: %w", err)
	}
	if err := b.compile(ctx, partial, flags); err != nil {
		return err
	}
	for name, binary := range b.Links {
		if err := os.Symlink(binary, filepath.Join(partial, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	err = os.Rename(partial, folder)
	if errors.Is(err, os.ErrExist) { // built by another process meanwhile
		return nil
	}
	return err
}

func (b Builder) compile(ctx context.Context, folder string, flags []string) (err error) {
	total, err := b.stale(ctx, flags)
	if err != nil {
		return err
	}
	meter := newMeter(total, b.Progress)
	defer func() { meter.stop(err == nil) }()
	// One command, so that one program is compiled while another is linked.
	args := slices.Concat([]string{"build", "-v", "-o", folder + string(filepath.Separator)}, flags, b.Packages)
	command := b.command(ctx, args...)
	output := &tail{}
	command.Stderr = io.MultiWriter(meter, output)
	if err := command.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", b.Name, err, output)
	}
	return nil
}

// stale counts the packages that Go has to compile, and the programs that it has
// to link.
func (b Builder) stale(ctx context.Context, flags []string) (int, error) {
	out, err := b.run(ctx, slices.Concat([]string{"list", "-deps", "-f", "{{if .Stale}}x{{end}}"}, flags, b.Packages)...)
	return strings.Count(out, "x"), err
}

// flags make the binaries small and independent of the folder of the build.
func (b Builder) flags() []string {
	linker := append([]string{"-s", "-w"}, b.LinkerFlags...)
	flags := []string{"-trimpath", "-ldflags=" + strings.Join(linker, " "), "-gcflags=all=-dwarf=false"}
	for _, pattern := range b.NotInlined {
		flags = append(flags, "-gcflags="+pattern+"=-l -dwarf=false")
	}
	return flags
}

func (b Builder) run(ctx context.Context, args ...string) (string, error) {
	command := b.command(ctx, args...)
	errs := &tail{}
	command.Stderr = errs
	out, err := command.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the go command is not in PATH: install Go 1.26 or later, see https://go.dev/dl")
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, errs)
	}
	return strings.TrimSpace(string(out)), nil
}

// command runs go in the source folder. GOFLAGS and a workspace of the caller
// would change what is built.
func (b Builder) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = b.Source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOOS=linux")
	return command
}

// tail keeps the end of what is written to it: the errors come last.
type tail struct{ content []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.content = append(t.content, p...)
	if excess := len(t.content) - tailSize; excess > 0 {
		t.content = bytes.Clone(t.content[excess:])
	}
	return len(p), nil
}

func (t *tail) String() string { return cmp.Or(strings.TrimSpace(string(t.content)), "no output") }
