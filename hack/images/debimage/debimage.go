package debimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// Entrypoint is the script that every one of these images starts with.
const Entrypoint = "entrypoint"

// Builder builds the trees.
type Builder struct {
	// CacheDir keeps extracted packages between builds.
	CacheDir string
	// Fresh extracts them again, with the updates that Debian has made since.
	Fresh bool
	// AptDir is the host's /etc/apt: the archives that it trusts are used.
	AptDir string
	// Extract runs mmdebstrap; see Mmdebstrap.
	Extract func(ctx context.Context, packages, sources []string) ([]byte, error)
}

// Tree returns the image's files. It reports whether the packages came out of
// the cache.
func (b Builder) Tree(ctx context.Context, r recipe.Debian) (t rootfs.Tree, cached bool, err error) {
	t, cached, err = b.packages(ctx, r)
	if err != nil {
		return nil, false, err
	}
	for name, node := range rootfs.Base() {
		t[name] = node
	}
	for _, dir := range r.Writable {
		t.Writable(dir)
	}
	for name, target := range r.Links {
		t.Symlink(name, target)
	}
	for name, script := range r.Scripts {
		t.File(name, 0o755, []byte(script))
	}
	t.File(Entrypoint, 0o755, entrypoint(r.Command[0]))
	return t, cached, nil
}

func (b Builder) packages(ctx context.Context, r recipe.Debian) (t rootfs.Tree, cached bool, err error) {
	sources, err := aptSources(b.AptDir)
	if err != nil {
		return nil, false, err
	}
	key, err := cacheKey(r, sources)
	if err != nil {
		return nil, false, err
	}
	file := filepath.Join(b.CacheDir, key+".tar")
	if !b.Fresh {
		t, err := load(file)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return t, true, err
		}
	}
	raw, err := b.Extract(ctx, r.Packages, sources)
	if err != nil {
		return nil, false, err
	}
	if t, err = rootfs.Read(bytes.NewReader(raw), trimmer(r)); err != nil {
		return nil, false, err
	}
	return t, false, store(file, t)
}

// entrypoint adds options to the program as the official images do, and runs
// anything else as it is.
func entrypoint(program string) []byte {
	return fmt.Appendf(nil, `#!/bin/sh
case "$1" in -*) set -- %s "$@" ;; esac
exec "$@"
`, program)
}

// Mmdebstrap extracts the packages, and what they depend on, into a tar.
func Mmdebstrap(ctx context.Context, packages, sources []string) ([]byte, error) {
	args := []string{"--variant=extract", "--format=tar", "--include=" + strings.Join(packages, ",")}
	if os.Geteuid() == 0 {
		// Without namespaces, which a container that builds this may not make.
		args = append(args, "--mode=root")
	}
	// An empty suite: the sources name it.
	args = append(args, "", "-")
	cmd := exec.CommandContext(ctx, "mmdebstrap", append(args, sources...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("mmdebstrap %s: %w\n%s", strings.Join(packages, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}
