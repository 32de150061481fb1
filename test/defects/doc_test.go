package defects_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// elsewhere is a test that the table of the package's comment refers to, of another
// package.
const elsewhere = "TestTargets"

// The table of the package's comment names each test of the package, and no other.
func TestTheTableNamesEachTest(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must.Succeed(t, err)
	there, named := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		must.Succeed(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(f.Doc.Text(), -1) {
				named[name] = true
			}
			continue
		}
		for _, d := range f.Decls {
			if test, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(test.Name.Name, "Test") && test.Name.Name != "TestMain" && file != "doc_test.go" {
				there[test.Name.Name] = true
			}
		}
	}
	delete(named, elsewhere)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("tests of the package (-there +named in its comment):\n%s", diff)
	}
}
