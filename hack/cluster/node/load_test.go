package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/archive"
)

func TestImportedComparesNamesAndDigests(t *testing.T) {
	l := imported{}
	first := imageArchive{digest: "1", names: []string{"a:dev", "b:dev"}}
	second := imageArchive{digest: "2", names: []string{"b:dev"}}
	if l.has(first) {
		t.Error("an archive is imported before the first import")
	}
	l.add(first)
	if !l.has(first) {
		t.Error("an archive that was added is not there")
	}
	if l.has(second) {
		t.Error("an archive is there because another one has the same name")
	}
	l.add(second)
	if l.has(first) {
		t.Error("an archive is still there although another one took one of its names")
	}
	if !l.has(second) {
		t.Error("the later archive is not there")
	}
}

func TestImportedIsKeptInAFile(t *testing.T) {
	node := layout.New(t.TempDir()).Node(1)
	got, err := readImported(node)
	if err != nil || len(got) != 0 {
		t.Fatalf("a new node has %v, %v, want nothing", got, err)
	}
	must.Succeed(t, os.MkdirAll(node.State, 0o755))
	want := imported{"a:dev": "1", "b:dev": "2"}
	must.Succeed(t, want.write(node))
	if got, err = readImported(node); err != nil {
		t.Fatal(err)
	}
	same.As(t, "imported", want, got)
	must.Succeed(t, os.WriteFile(importedPath(node), []byte("["), 0o644))
	if _, err := readImported(node); err == nil || !strings.Contains(err.Error(), "node-1") {
		t.Errorf("error is %v, want it to name the node", err)
	}
}

func TestLoadSkipsImagesThatTheNodeHas(t *testing.T) {
	l := layout.New(t.TempDir())
	nodes := Nodes{Layout: l}
	path := filepath.Join(l.State, "a.tar")
	must.Succeed(t, os.MkdirAll(l.Node(1).State, 0o755))
	if _, err := archive.Save(path, "loadtest.dev/some:dev", empty.Image); err != nil {
		t.Fatal(err)
	}
	images, err := openImages(path)
	must.Succeed(t, err)
	known := imported{}
	known.add(images)
	must.Succeed(t, known.write(l.Node(1)))
	// There is no containerd: an import would fail.
	must.Report(t, "load of what is there", nodes.Load(t.Context(), 1, path))
	if err := nodes.Load(t.Context(), 1, path+".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("load of a missing archive: %v, want that it does not exist", err)
	}
}

func TestPackPauseMakesAnImageOfTheBuiltProgram(t *testing.T) {
	l := layout.New(t.TempDir())
	nodes := Nodes{Layout: l}
	if err := nodes.PackPause(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the program: %v, want that it does not exist", err)
	}
	for _, path := range []string{l.Binary("pause"), l.Data("x")} {
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
	}
	must.Succeed(t, os.WriteFile(l.Binary("pause"), []byte("ELF"), 0o755))
	must.Succeed(t, nodes.PackPause())
	images, err := openImages(nodes.pauseArchive())
	must.Succeed(t, err)
	same.As(t, "names", []string{PauseImage}, images.names)
}
