package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/empty"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
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
	if err := os.MkdirAll(node.State, 0o755); err != nil {
		t.Fatal(err)
	}
	want := imported{"a:dev": "1", "b:dev": "2"}
	if err := want.write(node); err != nil {
		t.Fatal(err)
	}
	if got, err = readImported(node); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(importedPath(node), []byte("["), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readImported(node); err == nil || !strings.Contains(err.Error(), "node-1") {
		t.Errorf("error is %v, want it to name the node", err)
	}
}

func TestLoadSkipsImagesThatTheNodeHas(t *testing.T) {
	l := layout.New(t.TempDir())
	nodes := Nodes{Layout: l}
	path := filepath.Join(l.State, "a.tar")
	if err := os.MkdirAll(l.Node(1).State, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Save(path, "loadtest.dev/some:dev", empty.Image); err != nil {
		t.Fatal(err)
	}
	images, err := openImages(path)
	if err != nil {
		t.Fatal(err)
	}
	known := imported{}
	known.add(images)
	if err := known.write(l.Node(1)); err != nil {
		t.Fatal(err)
	}
	// There is no containerd: an import would fail.
	if err := nodes.Load(t.Context(), 1, path); err != nil {
		t.Errorf("load of what is there: %v", err)
	}
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
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.Binary("pause"), []byte("ELF"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := nodes.PackPause(); err != nil {
		t.Fatal(err)
	}
	images, err := openImages(nodes.pauseArchive())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{PauseImage}, images.names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
