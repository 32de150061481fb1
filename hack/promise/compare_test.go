package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// edited is a definition of which an edit changes the schema of a field, named by its path from
// the schema of the version.
func edited(t *testing.T, definition []byte, path string, edit func(field map[string]any)) []byte {
	t.Helper()
	var root map[string]any
	if err := yaml.Unmarshal(definition, &root); err != nil {
		t.Fatal(err)
	}
	version := root["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	at := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	for name := range strings.SplitSeq(path, ".") {
		if name, isList := strings.CutSuffix(name, "[]"); isList {
			at = at["properties"].(map[string]any)[name].(map[string]any)["items"].(map[string]any)
		} else {
			at = at["properties"].(map[string]any)[name].(map[string]any)
		}
	}
	edit(at)
	out, err := yaml.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func set(key string, value any) func(map[string]any) {
	return func(field map[string]any) { field[key] = value }
}

func properties(edit func(map[string]any)) func(map[string]any) {
	return func(field map[string]any) { edit(field["properties"].(map[string]any)) }
}

func TestWhatThePromiseForbids(t *testing.T) {
	now, err := os.ReadFile("../../config/crd/bases/loadtest.dev_loadtests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first := func(key string) func(map[string]any) {
		return func(field map[string]any) { field[key] = field[key].([]any)[1:] }
	}
	for name, tt := range map[string]struct {
		path      string
		edit      func(map[string]any)
		announced string
		forbidden bool
	}{
		"nothing":                      {path: "spec", edit: func(map[string]any) {}},
		"another description":          {path: "spec.requests[].name", edit: set("description", "what it is called")},
		"a new field":                  {path: "spec.requests[].http", edit: properties(set("trailers", map[string]any{"type": "string"}))},
		"a longer text":                {path: "spec.requests[].name", edit: set("maxLength", 100)},
		"a value more":                 {path: "spec.requests[].http.method", edit: func(f map[string]any) { f["enum"] = append(f["enum"].([]any), "TRACE") }},
		"a field that may be left out": {path: "spec.steps[]", edit: func(f map[string]any) { delete(f, "required") }},
		"a field less":                 {path: "spec.requests[]", edit: properties(func(f map[string]any) { delete(f, "items") }), forbidden: true},
		"a field less in the status":   {path: "status.summary", edit: properties(func(f map[string]any) { delete(f, "p95") }), forbidden: true},
		"a field that must be there":   {path: "spec.requests[]", edit: set("required", []any{"name", "type"}), forbidden: true},
		"a new field that must be there": {path: "spec.versus", edit: func(f map[string]any) {
			properties(set("why", map[string]any{"type": "string"}))(f)
			f["required"] = append(f["required"].([]any), "why")
		}, forbidden: true},
		"a shorter text":            {path: "spec.requests[].name", edit: set("maxLength", 10), forbidden: true},
		"fewer items":               {path: "spec.requests[].http.headers", edit: set("maxItems", 1), forbidden: true},
		"a larger minimum":          {path: "spec.parallelism", edit: set("minimum", 2), forbidden: true},
		"a value less":              {path: "spec.requests[].http.method", edit: first("enum"), forbidden: true},
		"another default":           {path: "spec.repetitions", edit: set("default", 2), forbidden: true},
		"a default where none was":  {path: "spec.parallelism", edit: set("default", 2), forbidden: true},
		"another type":              {path: "spec.randomSeed", edit: set("type", "string"), forbidden: true},
		"another pattern":           {path: "spec.requests[].http.path", edit: set("pattern", "^/a"), forbidden: true},
		"another list":              {path: "spec.steps", edit: set("x-kubernetes-list-type", "atomic"), forbidden: true},
		"another type of internal":  {path: "status.internal", edit: set("type", "string")},
		"a rule less, unannounced":  {path: "spec.requests[]", edit: first("x-kubernetes-validations"), forbidden: true},
		"a rule less, announced":    {path: "spec.requests[]", edit: first("x-kubernetes-validations"), announced: "`spec.requests[*]` has a rule less."},
		"a shorter text, announced": {path: "spec.requests[].name", edit: set("maxLength", 10), announced: "`spec.requests[*].name` is shorter.", forbidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := compare(now, edited(t, now, tt.path, tt.edit), tt.announced)
			if err != nil {
				t.Fatal(err)
			}
			if (len(problems) > 0) != tt.forbidden {
				t.Errorf("problems are %q, want some: %v", problems, tt.forbidden)
			}
			last := strings.TrimSuffix(tt.path[strings.LastIndex(tt.path, ".")+1:], "[]")
			if tt.forbidden && !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, "LoadTest: ") && strings.Contains(p, last) }) {
				t.Errorf("no problem names %s: %q", last, problems)
			}
		})
	}
}

func TestUnreleasedPartOfAChangelog(t *testing.T) {
	for changelog, want := range map[string]string{
		"# Changes\n\n## Unreleased\n- a\n\n## v1\n- b\n": "- a\n",
		"# Changes\n\n## Unreleased\n- a\n":               "- a\n",
		"# Changes\n\n## v1\n- b\n":                       "",
	} {
		if got := unreleased(changelog); got != want {
			t.Errorf("%q: %q, want %q", changelog, got, want)
		}
		if got, want := hasReleases(changelog), strings.Contains(changelog, "v1"); got != want {
			t.Errorf("%q has releases: %t, want %t", changelog, got, want)
		}
	}
}
