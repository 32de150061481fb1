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
	"time"
)

// Components are the names that the multi-call binary answers to.
var Components = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
	"kubelet", "kube-proxy", "kubectl", "provisioner", "enforcer",
}

// multicall is the binary that the components' names are links to.
const multicall = "kubernetes"

// packages are the module's programs. Each binary has the name of its folder.
var packages = []string{".", "./coredns", "./pause"}

// Builder builds the components.
type Builder struct {
	// Source is the folder of the components' module.
	Source string
	// Cache is the folder with one folder per build.
	Cache string
	// Progress gets the progress of the build. It may be nil.
	Progress func(Progress)
}

// Progress is that of a build.
type Progress struct {
	// Done and Total count packages to compile, without those that Go's own
	// cache has.
	Done, Total int
	Elapsed     time.Duration
	// Ended is true of the last report of a build that succeeded.
	Ended bool
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

// Build returns the folder with the components, and builds them first unless
// they have been.
func (b Builder) Build(ctx context.Context) (folder string, err error) {
	flags, err := b.flags()
	if err != nil {
		return "", err
	}
	goVersion, err := b.run(ctx, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	sum, err := hash(os.DirFS(b.Source), append(flags, goVersion, runtime.GOARCH)...)
	if err != nil {
		return "", err
	}
	folder = filepath.Join(b.Cache, "kubernetes-"+sum)
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
	for _, name := range Components {
		if err := os.Symlink(multicall, filepath.Join(partial, name)); err != nil {
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
	args := slices.Concat([]string{"build", "-v", "-o", folder + string(filepath.Separator)}, flags, packages)
	command := b.command(ctx, args...)
	output := &tail{}
	command.Stderr = io.MultiWriter(meter, output)
	if err := command.Run(); err != nil {
		return fmt.Errorf("build the components: %w\n%s", err, output)
	}
	return nil
}

// stale counts the packages that Go has to compile, and the programs that it has
// to link.
func (b Builder) stale(ctx context.Context, flags []string) (int, error) {
	out, err := b.run(ctx, slices.Concat([]string{"list", "-deps", "-f", "{{if .Stale}}x{{end}}"}, flags, packages)...)
	return strings.Count(out, "x"), err
}

// flags make the binaries small and independent of the folder of the build, and
// set their version, on which clients of the API server depend.
func (b Builder) flags() ([]string, error) {
	gomod, err := os.ReadFile(filepath.Join(b.Source, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("read the components' module: %w", err)
	}
	release, err := version(string(gomod))
	if err != nil {
		return nil, err
	}
	return []string{"-trimpath", "-ldflags=" + linkerFlags(release)}, nil
}

func linkerFlags(release string) string {
	numbers := strings.SplitN(strings.TrimPrefix(release, "v"), ".", 3)
	flags := []string{"-s", "-w"}
	for _, variable := range [][2]string{
		{"gitVersion", release}, {"gitMajor", numbers[0]}, {"gitMinor", numbers[1]}, {"gitTreeState", "clean"},
	} {
		flags = append(flags, fmt.Sprintf("-X k8s.io/component-base/version.%s=%s", variable[0], variable[1]))
	}
	return strings.Join(flags, " ")
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
