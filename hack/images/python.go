package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/images/prerequisite"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// pip may be of another Python than the image's, which is Debian's.
var pip = prerequisite.Program{Name: "pip3", Package: "python3-pip"}

// addPython puts packages of PyPI into the tree, by a file of requirements.
func (b *builder) addPython(ctx context.Context, tree rootfs.Tree, requirements string) error {
	if err := pip.Ensure(ctx, b.install, b.w); err != nil {
		return err
	}
	folder, err := b.packages(ctx, filepath.Join(b.golang.Root, requirements))
	if err != nil {
		return err
	}
	return addPackages(tree, folder)
}

// addPackages adds the files of installed packages. Their programs, and the lists of files with their
// digests, have the path of this machine's Python inside them, and nothing needs them.
func addPackages(tree rootfs.Tree, folder string) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "RECORD" {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil || strings.HasPrefix(name, "bin/") {
			return err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a package of PyPI: %w", err)
		}
		tree.File(path.Join(recipe.PythonFolder, name), 0o644, body)
		return nil
	})
}

// packages returns the folder with the packages of a file of requirements, and installs them first
// unless that has been done. An installation that is cut leaves no folder of that name.
func (b *builder) packages(ctx context.Context, requirements string) (folder string, err error) {
	text, err := os.ReadFile(requirements)
	if err != nil {
		return "", fmt.Errorf("read the requirements: %w", err)
	}
	cache := filepath.Join(filepath.Dir(b.debian.CacheDir), "python")
	folder = filepath.Join(cache, fmt.Sprintf("%x", sha256.Sum256(text))[:16])
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	partial, err := os.MkdirTemp(cache, "partial-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(partial)
	fmt.Fprintf(b.w, "fetching the packages of %s from PyPI\n", filepath.Base(requirements))
	// Compiled files have the time of their sources inside them: the image would be another each time.
	install := exec.CommandContext(ctx, "pip3", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile",
		"--no-deps", "--only-binary", ":all:", "--python-version", recipe.PythonVersion, "--target", partial, "--requirement", requirements)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip3 install: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	err = os.Rename(partial, folder)
	if errors.Is(err, os.ErrExist) { // installed by another process meanwhile
		return folder, nil
	}
	return folder, err
}
