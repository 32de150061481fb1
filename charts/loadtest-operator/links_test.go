package chart_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The templates are where the plugin looks for them, as it reads them, and everybody may get them and
// nothing else.
func TestLinksCanBeRead(t *testing.T) {
	for _, o := range render(t) {
		if strings.HasSuffix(o.GetName(), "-links") {
			t.Errorf("without links there is %s %s", o.GetKind(), o.GetName())
		}
	}
	type object = map[string]any
	objects := render(t, "--set", "links.runs[0].name=Grafana,links.runs[0].url=https://grafana.example.com/d/load?var-name={name}&from={start},links.trace=https://tempo.example.com/{traceID}")
	document := find(t, objects, "ConfigMap", release+"-links")["data"].(object)["links.yaml"].(string)
	got, err := links.Parse([]byte(document))
	must.Succeed(t, err)
	same.As(t, "templates", &links.Templates{
		Runs:     []links.Template{{Name: "Grafana", URL: "https://grafana.example.com/d/load?var-name={name}&from={start}"}},
		TraceURL: "https://tempo.example.com/{traceID}",
	}, got)
	rules := list(t, find(t, objects, "Role", release+"-links"), "rules")
	same.As(t, "rights", []any{object{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "resourceNames": []any{release + "-links"}, "verbs": []any{"get"}}}, rules)
	subjects := list(t, find(t, objects, "RoleBinding", release+"-links"), "subjects")
	same.As(t, "subjects", []any{object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}}, subjects)
}

func TestLinksThatAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"links.runs[0].name=a,links.runs[0].url=javascript:alert(1)":     "url",
		"links.runs[0].name=a,links.runs[0].url=https://{name}.example/": "url",
		"links.runs[0].name=a,links.runs[0].url=https://me:key@example/": "url",
		"links.runs[0].name=a":                    "url",
		"links.trace=tempo.example.com/{traceID}": "trace",
		"links.logs=https://a":                    "logs",
	} {
		if _, err := helm(t, release, "--set", set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
