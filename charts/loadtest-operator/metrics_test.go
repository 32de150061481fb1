package chart_test

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestServiceMonitorReadsEveryReplica(t *testing.T) {
	if objects := render(t); has(objects, "ServiceMonitor") {
		t.Error("a ServiceMonitor is there without having been asked for")
	}
	const on = "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.labels.team=perf"
	verified := map[string]any{
		"serverName": "coordinator.loadtest.dev",
		"ca":         map[string]any{"secret": map[string]any{"name": release + "-coordinator", "key": "ca.crt"}},
	}
	for set, want := range map[string]map[string]any{
		on: {
			"port": "metrics", "interval": "30s", "honorLabels": true, "scheme": "https", "tlsConfig": verified,
			"bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
		},
		on + ",metrics.serviceMonitor.tokenSecret=scraper": {
			"port": "metrics", "interval": "30s", "honorLabels": true, "scheme": "https", "tlsConfig": verified,
			"authorization": map[string]any{"credentials": map[string]any{"name": "scraper", "key": "token"}},
		},
		on + ",metrics.secure=false": {"port": "metrics", "interval": "30s", "honorLabels": true},
	} {
		monitor := find(t, render(t, "--set", set), "ServiceMonitor", release)
		same.As(t, set+": endpoints", []any{want}, list(t, monitor, "spec", "endpoints"))
		if labels := monitor["metadata"].(map[string]any)["labels"].(map[string]any); labels["team"] != "perf" {
			t.Errorf("labels %v lack team: perf", labels)
		}
	}
}

// A scraper that follows the ServiceMonitor trusts the certificate that the operator
// makes.
func TestServiceMonitorTrustsTheCertificate(t *testing.T) {
	monitor := find(t, render(t, "--set", "metrics.serviceMonitor.enabled=true"), "ServiceMonitor", release)
	endpoint := list(t, monitor, "spec", "endpoints")[0].(map[string]any)
	name, _, err := unstructured.NestedString(endpoint, "tlsConfig", "serverName")
	must.Succeed(t, err)
	pair, err := certs.Generate(time.Now())
	must.Succeed(t, err)
	served, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must.Succeed(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pair.CA)
	if _, err := served.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
		t.Error(err)
	}
}

// Those whom the administrator names may read the metrics, and no other.
func TestMetricsReadersMayReadMetricsAlone(t *testing.T) {
	if has(render(t), "ClusterRoleBinding "+release+"-metrics-reader") {
		t.Error("metrics may be read by an account that no value names")
	}
	objects := render(t, "--set", "metrics.readers[0].name=prometheus,metrics.readers[0].namespace=monitoring")
	want := []any{map[string]any{"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"}}
	same.As(t, "subjects", want, list(t, find(t, objects, "ClusterRoleBinding", release+"-metrics-reader"), "subjects"))
	rules := []any{map[string]any{"nonResourceURLs": []any{"/metrics"}, "verbs": []any{"get"}}}
	same.As(t, "rules", rules, list(t, find(t, objects, "ClusterRole", release+"-metrics-reader"), "rules"))
}

// Where metrics are open to all, the operator has no right that only their gate needs.
func TestOpenMetricsNeedNoRight(t *testing.T) {
	objects := render(t, "--set", "metrics.secure=false")
	for _, rule := range list(t, find(t, objects, "ClusterRole", release+"-manager"), "rules") {
		if slices.Contains(rule.(map[string]any)["resources"].([]any), "subjectaccessreviews") {
			t.Error("the operator may review access")
		}
	}
	if has(objects, "ClusterRole "+release+"-metrics-reader") {
		t.Error("there is a role of a right that is not asked for")
	}
}

// has says whether there is an object of a kind, or of a kind and name.
func has(objects []unstructured.Unstructured, want string) bool {
	return slices.ContainsFunc(objects, func(o unstructured.Unstructured) bool {
		return want == o.GetKind() || want == o.GetKind()+" "+o.GetName()
	})
}
