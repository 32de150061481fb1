package chart_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// schema is the part of values.schema.json that the README needs.
type schema struct {
	Description string
	Properties  map[string]schema
}

// TestReadmeListsValues keeps the table of the README, which -update writes.
func TestReadmeListsValues(t *testing.T) {
	const begin, end = "<!-- values -->\n", "<!-- /values -->"
	text := must.ReadFile(t, "README.md")
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no table between %q and %q", begin, end)
	}
	var root schema
	readJSON(t, "values.schema.json", &root)
	var values map[string]any
	readYAML(t, "values.yaml", &values)
	table := "| value | default | meaning |\n| --- | --- | --- |\n" + strings.Join(rows(t, "", root, values), "")
	golden.Check(t, "README.md", head+begin+table+end+tail)
}

// rows describes each value that has a description, by its path.
func rows(t *testing.T, prefix string, s schema, values map[string]any) []string {
	t.Helper()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property, path := s.Properties[name], prefix+name
		value, set := values[name]
		switch {
		case path == "global":
		case !set:
			t.Errorf("values.yaml has no %s, which values.schema.json describes", path)
		case property.Description != "":
			text, err := json.Marshal(value)
			must.Succeed(t, err)
			out = append(out, fmt.Sprintf("| `%s` | `%s` | %s |\n", path, text, property.Description))
		default:
			out = append(out, rows(t, path+".", property, value.(map[string]any))...)
		}
	}
	for name := range values {
		if _, described := s.Properties[name]; !described {
			t.Errorf("values.schema.json does not describe %s%s", prefix, name)
		}
	}
	return out
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text := must.ReadFile(t, file)
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text := must.ReadFile(t, file)
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
