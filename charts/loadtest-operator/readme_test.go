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

// The README says of each row of rights what the operator's account may read or write.
func TestReadmeNamesEveryRight(t *testing.T) {
	words := map[string]string{
		"autoscaling/horizontalpodautoscalers": "autoscalers", "metrics.k8s.io/pods": "what pods use", "apps/controllerrevisions": "revisions", "apps/daemonsets": "DaemonSets",
		"apps/deployments": "Deployments", "apps/statefulsets": "StatefulSets", "batch/jobs": "Jobs", "discovery.k8s.io/endpointslices": "EndpointSlice", "events.k8s.io/events": "events",
		"/configmaps": "ConfigMap", "/pods": "pods", "/namespaces": "namespaces", "/services": "Service", "/nodes": "nodes", "/secrets": "Secret", "coordination.k8s.io/leases": "lease",
		"authentication.k8s.io/tokenreviews": "review the tokens", "authorization.k8s.io/subjectaccessreviews": "whether a scraper may", "loadtest.dev/loadtests": "LoadTests",
		"loadtest.dev/loadtestschedules": "LoadTestSchedules", "loadtest.dev/loadtests/status": "status", "loadtest.dev/loadtestschedules/status": "status",
	}
	_, section, _ := strings.Cut(string(must.ReadFile(t, "README.md")), "## What it may do\n")
	table := strings.Split(section, "\n")[3:6] // without an empty line and the head
	objects := render(t, "--skip-tests", "--set", "rollouts.enabled=true,environment.usage=true,config.results.volume=true,results.volume.emptyDir.medium=Memory,watchNamespaces={shop}")
	for row, role := range map[int]string{0: "Role -tests", 1: "ClusterRole -manager", 2: "Role -manager", 3: "Role -leader-election"} {
		kind, suffix, _ := strings.Cut(role, " ")
		for _, rule := range list(t, find(t, objects, kind, release+suffix), "rules") {
			groups, resources := rule.(map[string]any)["apiGroups"].([]any), rule.(map[string]any)["resources"].([]any)
			for _, resource := range resources {
				right := fmt.Sprintf("%s/%s", groups[0], resource)
				if word := words[right]; word == "" || !strings.Contains(table[min(row, 2)], word) {
					t.Errorf("%s%s has a right to %s, and %q is not in: %s", release, suffix, right, word, table[min(row, 2)])
				}
			}
		}
	}
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
