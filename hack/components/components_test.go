package components

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryComponentIsPinnedByAModule(t *testing.T) {
	tool := regexp.MustCompile(`(?m)^tool |^tool \(`)
	for _, c := range all {
		content, err := os.ReadFile(filepath.Join(c.Name, "go.mod"))
		if err != nil {
			t.Error(err)
		} else if !tool.Match(content) {
			t.Errorf("%s/go.mod names no tool", c.Name)
		}
		if c.Title == "" {
			t.Errorf("%s has no title", c.Name)
		}
	}
}

// A folder that is not listed is never built, and its tests are never run.
func TestEveryModuleIsListed(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatal(modules, err)
	}
	for _, m := range modules {
		if !slices.ContainsFunc(all, func(c Component) bool { return c.Name == filepath.Dir(m) }) {
			t.Errorf("%s belongs to no component", m)
		}
	}
}

func TestUnknownComponentIsRefusedWithTheNamesThereAre(t *testing.T) {
	if _, err := Build(t.Context(), "../..", "argo", nil); err == nil || !strings.Contains(err.Error(), "argocd") {
		t.Errorf("error is %v, want the components' names in it", err)
	}
}
