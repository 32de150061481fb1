package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/image"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

func TestLedgerKnowsWhatANodeHas(t *testing.T) {
	l := ledger{}
	first := image.Archive{Digest: "1", Names: []string{"a:dev", "b:dev"}}
	second := image.Archive{Digest: "2", Names: []string{"b:dev"}}
	if l.has(first) {
		t.Error("an empty ledger has an archive")
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

func TestLedgerSurvives(t *testing.T) {
	node := layout.New(t.TempDir()).Node(1)
	got, err := readLedger(node)
	if err != nil || len(got) != 0 {
		t.Fatalf("a new node has %v, %v, want nothing", got, err)
	}
	if err := os.MkdirAll(node.State, 0o755); err != nil {
		t.Fatal(err)
	}
	want := ledger{"a:dev": "1", "b:dev": "2"}
	if err := want.write(node); err != nil {
		t.Fatal(err)
	}
	if got, err = readLedger(node); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(ledgerPath(node), []byte("["), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readLedger(node); err == nil || !strings.Contains(err.Error(), "node-1") {
		t.Errorf("error is %v, want it to name the node", err)
	}
}

func TestLoadOfWhatANodeHasAsksNobody(t *testing.T) {
	l := layout.New(t.TempDir())
	nodes := Nodes{Layout: l}
	path := filepath.Join(l.State, "a.tar")
	if err := os.MkdirAll(l.Node(1).State, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join((image.Binary{Name: "a:dev", Path: "a"}).Write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	archive, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	known := ledger{}
	known.add(archive)
	if err := known.write(l.Node(1)); err != nil {
		t.Fatal(err)
	}
	// There is no containerd: whoever asked it would fail.
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
	archive, err := image.Open(nodes.pauseArchive())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{PauseImage}, archive.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
