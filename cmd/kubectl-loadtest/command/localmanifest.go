package command

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
)

// readLocal reads the LoadTests of files, and the ConfigMaps and Secrets of the files
// and of folders.
func (c *config) readLocal(paths, folders []string) (tests []document.Manifest, objects *local.Objects, err error) {
	found, err := readBundle(paths, c.streams.In)
	if err != nil {
		return nil, nil, err
	}
	found.leaveAside(c.streams.Err)
	objects = &local.Objects{}
	for _, folder := range folders {
		others, err := readFolder(folder, c.streams.In)
		if err != nil {
			return nil, nil, err
		}
		// What stands beside the LoadTest comes last, and wins.
		found.data = append(others, found.data...)
	}
	for _, object := range found.data {
		if err := objects.Add(object); err != nil {
			return nil, nil, err
		}
	}
	return found.tests, objects, nil
}

// readFolder reads the ConfigMaps and Secrets of the manifests in a folder.
func readFolder(folder string, stdin io.Reader) (found []*unstructured.Unstructured, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		others, err := document.File(path, stdin, func(*unstructured.Unstructured) error { return nil })
		found = append(found, others...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("--with %s: %w", folder, err)
	}
	return slices.DeleteFunc(found, func(o *unstructured.Unstructured) bool { return !local.Takes(o) }), nil
}
