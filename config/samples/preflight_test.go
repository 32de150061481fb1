package samples

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const charts = "../../charts/targets/"

// about is what a preset's target says of itself at /version, as far as samples
// ask for it: by the path there, its value in the preset.
var about = map[string]func(values) any{
	".api":         func(v values) any { return v.at("shortener", "api") },
	".replicas":    func(v values) any { return v.at("shortener", "replicas") },
	".connections": func(v values) any { return v.at("shortener", "connections") },
	".linkIndex":   func(v values) any { return v.at("shortener", "linkIndex") },
	".shards":      func(v values) any { return v.at("postgres", "shards") },
	".codeLength":  func(v values) any { return v.at("shortener", "codeLength") },
	".cache": func(v values) any {
		return map[any]any{true: "redis", false: "off"}[v.at("shortener", "cache", "enabled")]
	},
	".clicks": func(v values) any {
		return strings.Replace(fmt.Sprint(v.at("shortener", "clicks", "mode")), "none", "off", 1)
	},
	".synchronous":     func(v values) any { return v.at("eventstore", "synchronous") },
	".groupCommit":     func(v values) any { return v.at("eventstore", "groupCommit") },
	".memoryLimit":     func(v values) any { return v.at("eventstore", "resources", "limits", "memory") },
	".delay":           func(v values) any { return v.at("eventstore", "delay") },
	".strategy":        func(v values) any { return v.at("ratelimiter", "strategy") },
	".capacity":        func(v values) any { return v.at("ratelimiter", "capacity") },
	".refillPerSecond": func(v values) any { return v.at("ratelimiter", "refillPerSecond") },
}

// values are those of a preset, over those of the chart.
type values map[string]any

func (v values) at(path ...string) any {
	var at any = map[string]any(v)
	for _, name := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[name]
	}
	return at
}

func readValues(t *testing.T, preset string) values {
	t.Helper()
	var v map[string]any
	for _, file := range []string{charts + "values.yaml", preset} {
		var read map[string]any
		unmarshal(t, file, &read)
		v = merge(v, read)
	}
	return v
}

// merge is a with what b has in its place, as Helm merges values.
func merge(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range b {
		deep, isMap := value.(map[string]any)
		below, wasMap := out[name].(map[string]any)
		if isMap && wasMap {
			value = merge(below, deep)
		}
		out[name] = value
	}
	return out
}

func unmarshal(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	must.Succeed(t, err)
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Each load test of a seed makes sure of its target, by what is true of each of
// the seed's presets.
func TestSeedsVerifyTheirTarget(t *testing.T) {
	for _, seed := range []string{"000", "001", "002", "003", "004"} {
		presets := glob(t, charts+"values-seed-"+seed+"*.yaml")
		for _, file := range glob(t, "seeds/"+seed+"/*.yaml") {
			if filepath.Base(file) == "kustomization.yaml" {
				continue
			}
			var lt v1beta1.LoadTest
			unmarshal(t, file, &lt)
			asked := lt.Spec.Preflight
			if len(asked) != 1 || asked[0].HTTP.Path != "/version" || len(asked[0].Expect.JSON) == 0 {
				t.Errorf("%s: preflight is %v, want a question for /version", file, asked)
				continue
			}
			for _, preset := range presets {
				v := readValues(t, preset)
				for _, want := range asked[0].Expect.JSON {
					value, ok := about[string(want.Path)]
					if !ok {
						t.Errorf("%s: %s: no preset is known to say that", file, want.Path)
					} else if got := fmt.Sprint(value(v)); got != want.Text() {
						t.Errorf("%s: %s is %q in %s, %q is expected", file, want.Path, got, filepath.Base(preset), want.Text())
					}
				}
			}
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.FromSlash(pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s (%v)", pattern, err)
	}
	return files
}
