package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// What has a path of the machine inside it stays out of an image.
func TestPackagesOfPythonAreAddedWithoutTheirPrograms(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"bin/locust", "locust/__init__.py", "locust/bin/x.py", "locust-1.dist-info/RECORD", "locust-1.dist-info/METADATA"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755))
		must.Succeed(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644))
	}
	must.Succeed(t, os.Symlink("/etc/passwd", filepath.Join(folder, "link")))
	tree := rootfs.Tree{}
	must.Succeed(t, addPackages(tree, folder))
	same.As(t, "files", []string{"opt/python/locust-1.dist-info/METADATA", "opt/python/locust/__init__.py", "opt/python/locust/bin/x.py"}, slices.Sorted(maps.Keys(tree)))
}
