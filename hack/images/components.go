package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/components"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// programs is where an image has the programs of a component.
const programs = "usr/local/bin"

// component returns what builds outside components.
func component(root string, w io.Writer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		return components.Build(ctx, root, name, w)
	}
}

// addPrograms puts the programs of a component into the search path.
func (b *builder) addPrograms(ctx context.Context, tree rootfs.Tree, name string) error {
	folder, err := b.golang.Component(ctx, name)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("list the programs of %s: %w", name, err)
	}
	var errs []error
	for _, entry := range entries {
		errs = append(errs, addProgram(tree, folder, entry))
	}
	return errors.Join(errs...)
}

// addProgram adds a binary, or a further name of one.
func addProgram(tree rootfs.Tree, folder string, entry os.DirEntry) error {
	file, name := filepath.Join(folder, entry.Name()), path.Join(programs, entry.Name())
	if entry.Type() == os.ModeSymlink {
		target, err := os.Readlink(file)
		if err != nil {
			return fmt.Errorf("read the link of a program: %w", err)
		}
		tree.Symlink(name, target)
		return nil
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	tree.File(name, 0o755, body)
	return nil
}
