package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// servicesWait is a constant of the targets that says how long they wait, read from
// their source: they export none. It must be written as a number of seconds.
func servicesWait(t *testing.T, file, name string) time.Duration {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../../targets/"+file, nil, parser.SkipObjectResolution)
	must.Succeed(t, err)
	var wait time.Duration
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == name && len(spec.Values) == 1 {
			wait = seconds(spec.Values[0])
		}
		return wait == 0
	})
	if wait == 0 {
		t.Fatalf("targets/%s has no constant %s of the form 5 * time.Second: name the one that bounds the wait now", file, name)
	}
	return wait
}

// seconds is the duration of an expression of the form 5 * time.Second, and else 0.
func seconds(e ast.Expr) time.Duration {
	product, ok := e.(*ast.BinaryExpr)
	if !ok || product.Op != token.MUL {
		return 0
	}
	factor, ok := product.X.(*ast.BasicLit)
	if !ok {
		return 0
	}
	unit, ok := product.Y.(*ast.SelectorExpr)
	if !ok || unit.Sel.Name != "Second" {
		return 0
	}
	n, err := strconv.Atoi(factor.Value)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
