package components

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// tool is a line by which a module pins a program.
var tool = regexp.MustCompile(`(?m)^tool |^tool \(`)

func TestEveryComponentIsPinnedByAModule(t *testing.T) {
	for _, c := range all {
		content, err := os.ReadFile(filepath.Join("..", "..", c.source(), "go.mod"))
		if err != nil {
			t.Error(err)
		} else if !tool.Match(content) {
			t.Errorf("%s/go.mod names no tool", c.source())
		}
		if c.Title == "" {
			t.Errorf("%s has no title", c.Name)
		}
	}
}

// A program that is not listed is never built.
func TestEveryModuleWithProgramsIsListed(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatal(modules, err)
	}
	for _, m := range modules {
		content := must.ReadFile(t, m)
		listed := slices.ContainsFunc(all, func(c Component) bool { return c.Name == filepath.Dir(m) })
		if listed != tool.Match(content) {
			t.Errorf("%s: it is listed: %t, and names a tool: %t", m, listed, !listed)
		}
	}
}

func TestUnknownComponentIsRefusedWithTheNamesThereAre(t *testing.T) {
	if _, err := Build(t.Context(), "../..", "argo", nil); err == nil || !strings.Contains(err.Error(), "argocd") {
		t.Errorf("error is %v, want the components' names in it", err)
	}
}
