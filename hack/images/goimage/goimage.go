package goimage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// HostCertificates is where Debian, and most others, keep the bundle of
// certificate authorities; Go programs look for it at the same path.
const HostCertificates = "/etc/ssl/certs/ca-certificates.crt"

// Builder builds the trees.
type Builder struct {
	// Root is the repository's root, where the Go module is.
	Root string
	// Architecture is that of the binaries; empty means this machine's.
	Architecture string
	// BinDir keeps the binaries between builds: go build does not link a
	// binary again that is up to date.
	BinDir string
	// Component builds an outside component, and returns the folder of its programs.
	Component func(ctx context.Context, name string) (folder string, err error)
	// Certificates is the bundle to copy, usually HostCertificates.
	Certificates string
}

// Tree compiles the recipe's package and returns the image's files.
func (b Builder) Tree(ctx context.Context, r recipe.Go) (rootfs.Tree, error) {
	certificates, err := os.ReadFile(b.Certificates)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no certificate authorities at %s: run apt-get install ca-certificates", b.Certificates)
	}
	if err != nil {
		return nil, fmt.Errorf("read certificate authorities: %w", err)
	}
	binary, err := b.binary(ctx, r)
	if err != nil {
		return nil, err
	}
	t := rootfs.Base()
	t.File("etc/ssl/certs/ca-certificates.crt", 0o644, certificates)
	t.File(r.Binary, 0o755, binary)
	return t, nil
}

func (b Builder) binary(ctx context.Context, r recipe.Go) ([]byte, error) {
	if r.Component == "" {
		return b.compile(ctx, r)
	}
	folder, err := b.Component(ctx, r.Component)
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(filepath.Join(folder, r.Binary))
	if err != nil {
		return nil, fmt.Errorf("read binary: %w", err)
	}
	return binary, nil
}

func (b Builder) compile(ctx context.Context, r recipe.Go) ([]byte, error) {
	if files, err := filepath.Glob(filepath.Join(b.Root, r.Package, "*.go")); err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go package at %s", r.Package)
	}
	out := filepath.Join(b.BinDir, r.Binary)
	// No path of this machine, no state of git, no symbol table: the binary
	// depends on the source, the dependencies and the toolchain alone. The compiler's flags
	// are the Makefile's, so that each package is compiled once.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", out, r.Package)
	cmd.Dir = b.Root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+cmp.Or(b.Architecture, runtime.GOARCH), "GOFLAGS=", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w\n%s", r.Package, err, strings.TrimSpace(string(output)))
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("read binary: %w", err)
	}
	return binary, nil
}
