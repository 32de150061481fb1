//go:build e2e

package abuse

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// tenancyAbuses look for what is secret in all that a run that goes wrong shows.
var tenancyAbuses = []abuse{
	{"what is secret, in a run whose responses are not as expected", worker, `instead of "x"`,
		shows("requests: [{name: r, http: {path: /tenancy/echo, method: POST, bodyFrom: {secret: {name: canary, key: body}}}, expect: {json: [{path: .token, equals: x}]}}]")},
	{"what is secret, in a run whose setup fails", worker, "of 30 bytes is not JSON",
		shows("requests: [{name: r, http: {path: /tenancy/echo, method: POST, bodyFrom: {secret: {name: canary, key: text}}}}]\nsetup: {fill: {request: r, count: 1, capture: {c: .c}}}")},
	{"what is secret, in a run whose Secret cannot be sent", worker, "its value holds a control character",
		shows(`requests: [{name: home, http: {path: /, headers: [{name: A, valueFrom: {secret: {name: canary, key: control}}}]}}]`)},
}

// secrets are in a Secret. The target sends back bodies, and the header X-Echo. plain
// is in the spec.
var secrets = map[string]string{
	"header": "kanari0header", "control": "kanari1header\x01",
	"body": `{"token": "kanari2body kanari2body"}`, "text": "kanari3text kanari3text kanari",
}

const plain = "kanari4plain"

// shows runs a LoadTest that goes wrong. It succeeded if something shows a canary.
func shows(fields string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		tn, name := p.attacker, p.attacker.name()
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: "loadtest-" + name}, StringData: secrets}
		object := tn.loadTest(t, specWith(strings.ReplaceAll(`
target: {service: {name: api}, headers: [{name: X-Echo, valueFrom: {secret: {name: canary, key: header}}}, {name: X-Plain, value: `+plain+`}]}
steps: [{name: s, users: 1, requestsPerUser: 2}]
`+fields, "name: canary", "name: loadtest-"+name)))
		for _, o := range []client.Object{secret, object} {
			must.Succeed(t, cluster.API.Create(t.Context(), o))
		}
		lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: object.GetName()}}
		cluster.Finish(t, lt)
		texts := shownOf(t, lt)
		for where, text := range texts {
			if text == "" {
				t.Errorf("%s: there is nothing to search", where)
			}
			if at := strings.Index(text, "kanari"); at >= 0 {
				return succeeded("%s: %s", where, text[max(0, at-100):min(len(text), at+40)])
			}
		}
		return refused(worker, strings.Join(strings.Fields(texts["LoadTest"]), " "))
	}
}

// shownOf are the texts that show something of a run, by name.
func shownOf(t *testing.T, lt *v1beta1.LoadTest) map[string]string {
	t.Helper()
	kubectl := func(args ...string) string { return cluster.MustCommand(t, "kubectl", args...) }
	whole := kubectl("get", "loadtest", lt.Name, "-n", lt.Namespace, "-o", "yaml", "--show-managed-fields")
	metadata, rest, _ := strings.Cut(whole, "\nspec:\n")
	_, status, _ := strings.Cut(rest, "\nstatus:\n")
	texts := map[string]string{
		"LoadTest": metadata + status,
		"Events":   kubectl("get", "events", "-n", lt.Namespace, "-o", "yaml", "--field-selector", "involvedObject.name="+lt.Name),
		"operator": kubectl("logs", "-n", cluster.OperatorNamespace, "-l", cluster.OperatorLabel, "--tail=-1"),
		"worker":   kubectl("logs", "-n", lt.Namespace, "-l", "loadtest.dev/run="+string(lt.UID), "--tail=-1"),
		"metrics":  metricsAsReader(t, lt),
	}
	if len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil {
		texts["results"] = resultsOf(t, lt)
	}
	return texts
}

// resultsOf are the results in ConfigMaps, unpacked.
func resultsOf(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	var maps corev1.ConfigMapList
	must.Succeed(t, cluster.API.List(t.Context(), &maps, client.InNamespace(lt.Namespace), client.MatchingLabels{"loadtest.dev/run": string(lt.UID)}))
	var texts strings.Builder
	for _, m := range maps.Items {
		step, err := archive.Decode(m.BinaryData[archive.Key])
		must.Succeed(t, err)
		m.BinaryData = nil
		must.Succeed(t, json.NewEncoder(&texts).Encode([]any{step, m}))
	}
	return texts.String()
}

// metricsAsReader are the metrics of the operator that carries out the runs.
func metricsAsReader(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}}
	must.Succeed(t, cluster.API.Create(t.Context(), account))
	cluster.LetReadMetrics(t, lt.Namespace, lt.Name)
	leading, err := cluster.Leader(t.Context())
	must.Succeed(t, err)
	token := strings.TrimSpace(cluster.MustCommand(t, "kubectl", "-n", lt.Namespace, "create", "token", lt.Name))
	status, page := cluster.MetricsPage(t, "pod/"+leading.Name, token)
	if !strings.Contains(page, "loadtest_coordinator_sessions") {
		t.Fatalf("metrics: answered %d: %.200s", status, page)
	}
	return page
}
