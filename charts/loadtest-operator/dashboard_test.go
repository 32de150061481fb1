package chart_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const dashboardFile = "files/dashboard.json"

// dashboard is what Grafana must find in one.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct{ List []variable }
	Panels        []panel
}

type variable struct{ Name, Type, Definition string }

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               *source
	Targets                  []struct {
		RefID, Expr string
		Datasource  source
	}
}

type source struct{ Type, UID string }

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	readJSON(t, dashboardFile, &d)
	return d
}

// queries are those of the dashboard, variables included.
func queries(t *testing.T) []string {
	t.Helper()
	var all []string
	d := readDashboard(t)
	for _, v := range d.Templating.List {
		all = append(all, v.Definition)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

func TestDashboardIsOneThatGrafanaLoads(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 30 || len(d.Panels) < 15 {
		t.Errorf("uid %q, title %q, schema version %d, %d panels", d.UID, d.Title, d.SchemaVersion, len(d.Panels))
	}
	ids, kinds := map[int]bool{}, []string{"row", "stat", "timeseries", "heatmap", "table"}
	for i, p := range d.Panels {
		at := p.GridPos
		if ids[p.ID] || p.ID == 0 || p.Title == "" || !strings.Contains(strings.Join(kinds, " "), p.Type) {
			t.Errorf("panel %d %q: type %q, or its id is not its own", p.ID, p.Title, p.Type)
		}
		ids[p.ID] = true
		if at.W < 1 || at.H < 1 || at.X < 0 || at.X+at.W > 24 {
			t.Errorf("panel %q does not fit into 24 columns: %+v", p.Title, at)
		}
		for _, q := range d.Panels[:i] {
			if other := q.GridPos; at.X < other.X+other.W && other.X < at.X+at.W && at.Y < other.Y+other.H && other.Y < at.Y+at.H {
				t.Errorf("panels %q and %q overlap", p.Title, q.Title)
			}
		}
		if p.Type != "row" {
			checkPanel(t, &p)
		}
	}
}

// checkPanel requires the data source to be the one that the user has chosen.
func checkPanel(t *testing.T, p *panel) {
	t.Helper()
	chosen := source{"prometheus", "${datasource}"}
	if p.Datasource == nil || *p.Datasource != chosen || p.Description == "" || len(p.Targets) == 0 {
		t.Errorf("panel %q has no query, no description, or another data source: %+v", p.Title, p.Datasource)
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		if target.Datasource != chosen || target.Expr == "" || refs[target.RefID] {
			t.Errorf("panel %q: query %s", p.Title, target.RefID)
		}
		refs[target.RefID] = true
	}
}

// A query uses the variables that there are, and no other.
func TestDashboardCanBeNarrowed(t *testing.T) {
	d := readDashboard(t)
	known := map[string]bool{"$__rate_interval": true}
	for _, v := range d.Templating.List {
		known["$"+v.Name] = true
	}
	for _, want := range []string{"$datasource", "$namespace", "$name", "$target"} {
		if !known[want] {
			t.Errorf("there is no variable %s", want)
		}
	}
	for _, query := range queries(t) {
		for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !strings.ContainsRune("$_", r) && (r < 'a' || r > 'z') }) {
			if strings.HasPrefix(word, "$") && !known[word] {
				t.Errorf("unknown variable %s in %s", word, query)
			}
		}
	}
}

func TestDashboardIsAConfigMapForTheSidecar(t *testing.T) {
	if has(render(t), "ConfigMap "+release+"-dashboard") {
		t.Error("a dashboard is there without having been asked for")
	}
	object := find(t, render(t, "--set", "metrics.dashboard.enabled=true"), "ConfigMap", release+"-dashboard")
	if labels := object["metadata"].(map[string]any)["labels"].(map[string]any); labels["grafana_dashboard"] != "1" {
		t.Errorf("labels: %v", labels)
	}
	without := find(t, render(t, "--set", "metrics.dashboard.enabled=true,metrics.dashboard.labels.grafana_dashboard=null"), "ConfigMap", release+"-dashboard")
	if labels := without["metadata"].(map[string]any)["labels"].(map[string]any); labels["grafana_dashboard"] != nil {
		t.Errorf("labels for no sidecar: %v", labels)
	}
	file := must.ReadFile(t, dashboardFile)
	var want, got any
	must.Succeed(t, json.Unmarshal(file, &want))
	text := object["data"].(map[string]any)["loadtests.json"].(string)
	if err := json.Unmarshal([]byte(text), &got); err != nil || !bytes.Equal(bytes.TrimSpace(file), []byte(text)) {
		t.Errorf("the ConfigMap does not hold the file: %v", err)
	}
}

// Prometheus can parse each query, once Grafana has put in the variables.
func TestDashboardQueriesAreValid(t *testing.T) {
	fill := strings.NewReplacer("$__rate_interval", "1m", "$namespace", "shop", "$name", "checkout", "$target", "shop|stock")
	var rules []map[string]any
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			rules = append(rules, map[string]any{"record": fmt.Sprintf("query:%d", len(rules)), "expr": fill.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	must.Succeed(t, err)
	file := filepath.Join(t.TempDir(), "queries.yaml")
	write(t, file, text)
	if out, err := promtool(t, "check", "rules", file); err != nil || !strings.Contains(out, fmt.Sprintf("SUCCESS: %d rules", len(rules))) {
		t.Errorf("%d queries: %v\n%s", len(rules), err, out)
	}
}
