package command_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const someLinks = "runs: [{name: Grafana, url: 'https://grafana.example.com/d/load?var-name={name}&from={start}&to={end}'}]\ntrace: https://tempo.example.com/trace/{traceID}\n"

const linkedID = "0af7651916cd43dd8448eb211c80319c"

// tracedRun is a finished run that has a trace.
func tracedRun() string {
	return strings.Replace(finishedRuns("40ms"), "responseTime: {samples", "traces: {sampled: 1, slowest: [{traceID: "+linkedID+", request: a, outcome: success, statusCode: 200, responseTime: 40ms, serviceTime: 40ms}]}, responseTime: {samples", 1)
}

// A report has the administrator's links, if it is told where they are.
func TestReportWithLinks(t *testing.T) {
	u := newTestUser(t)
	file, templates := write(t, "run.yaml", tracedRun()), write(t, "links.yaml", someLinks)
	grafana, tempo := `<a href="https://grafana.example.com/d/load?var-name=nightly-1&amp;from=`, `<a href="https://tempo.example.com/trace/`+linkedID+`" rel="noreferrer">`+linkedID+`</a>`
	contains(t, "the report", u.run("report", "-f", file, "-o", "html", "--links", templates).out, grafana, tempo)
	t.Setenv("LOADTEST_LINKS", templates)
	contains(t, "by the variable", u.run("report", "-f", file, "-o", "html").out, grafana, tempo)
	if got := u.run("report", "-f", file, "-o", "html", "--links", "none"); got.code != 0 || strings.Contains(got.out, "grafana") || !strings.Contains(got.out, linkedID) {
		t.Errorf("with none: exit code %d, %s", got.code, got.err)
	}
	hostile := write(t, "hostile.yaml", "runs: [{name: x, url: 'javascript:alert(1)'}]")
	for want, args := range map[string][]string{
		"runs[0].url: must be an address that begins with http:// or https://": {"--links", hostile},
		"no such file": {"--links", hostile + "x"},
		"is in a cluster, which this command does not ask: give a file": {"--links", "configmap:a/b"},
	} {
		u.run(append([]string{"report", "-f", file, "-o", "html"}, args...)...).fails(t, want)
	}
}

// The pages of a cluster have the links of the ConfigMap; one that is wrong is said, and nothing fails.
func TestPagesWithLinksOfTheCluster(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	direct := apiserver.Client(t)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "links"}, Data: map[string]string{"links.yaml": someLinks}}
	must.Succeed(t, direct.Create(t.Context(), object))
	from := "configmap:" + p.namespace + "/links"
	p.serve(func(address string) {
		_, page := fetch(t, http.MethodGet, address+"run/"+p.namespace+"/hello")
		contains(t, "the page", page, "https://grafana.example.com/d/load?var-name=hello&amp;from=", ">Grafana</a>")
	}, "--links", from)
	for want, args := range map[string][]string{
		"has no key links.yaml":            {"--links", "configmap:kube-system/kube-root-ca.crt"},
		"must be configmap:NAMESPACE/NAME": {"--links", "configmap:links"},
		`configmaps "none" not found`:      {"--links", "configmap:" + p.namespace + "/none"},
	} {
		if got := p.run(append([]string{"ui"}, args...)...); got.code != 4 || !strings.Contains(got.err, want) && !strings.Contains(got.err, "not found") {
			t.Errorf("%v: exit code %d and %q, want %q", args, got.code, got.err, want)
		}
	}
	p.run("run", "--links", from, "-f", "x.yaml").fails(t, "--links needs --ui")
}
