package archtest

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLayoutIsThatOfPROJECT(t *testing.T) {
	found, err := misplaced(os.DirFS(repository))
	must.Succeed(t, err)
	for _, f := range found {
		t.Error(f)
	}
}

// The layout holds, so that the test above says nothing; that it would say something is
// shown on trees that are otherwise.
func TestMisplacedFilesAreFound(t *testing.T) {
	const project = "repo: " + ours + "\nresources:\n- controller: true\n  kind: Run\n  path: " + ours + "/api/v1\n"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tc := range map[string]struct {
		change func(fstest.MapFS)
		want   []string
	}{
		"all in place":      {func(fstest.MapFS) {}, nil},
		"a file at root":    {func(m fstest.MapFS) { m["main.go"] = file("package main") }, []string{"main.go is at the root: programs are below cmd"}},
		"no program":        {func(m fstest.MapFS) { delete(m, "cmd/main.go") }, []string{"there is no cmd/main.go"}},
		"no controller":     {func(m fstest.MapFS) { delete(m, "controllers/run/doc.go") }, []string{"Run has no controller in controllers/run"}},
		"an API that moved": {func(m fstest.MapFS) { delete(m, "api/v1/types.go") }, []string{"api/v1 has no type Run"}},
		"another type":      {func(m fstest.MapFS) { m["api/v1/types.go"] = file("package v1\n\ntype Runs struct {\n}\n") }, []string{"api/v1 has no type Run"}},
		"another module":    {func(m fstest.MapFS) { m["PROJECT"] = file("repo: example.com/x\n  kind: Run\n") }, []string{"PROJECT is of module example.com/x, want " + ours}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{
				"PROJECT": file(project), "cmd/main.go": file("package main"), "controllers/run/doc.go": file("package run"),
				"api/v1/types.go": file("package v1\n\ntype Run struct {\n}\n"),
			}
			tc.change(tree)
			got, err := misplaced(tree)
			must.Succeed(t, err)
			same.As(t, "misplaced", tc.want, got)
		})
	}
	if _, err := misplaced(fstest.MapFS{"PROJECT": file("repo: " + ours + "\n")}); err == nil {
		t.Error("a PROJECT without a kind was accepted")
	}
	if _, err := misplaced(fstest.MapFS{}); err == nil {
		t.Error("a tree without PROJECT was accepted")
	}
}
