package chart_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// monitored has everything that a Prometheus Operator and a Grafana look for.
const monitored = "metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true,metrics.podMonitor.tokenSecret=scraper," +
	"metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true"

// typed converts an object to its type, which must have all of its fields.
func typed[T any](t *testing.T, object map[string]any) T {
	t.Helper()
	var into T
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, &into, true))
	return into
}

func TestMonitorsAreThoseOfTheTypedAPI(t *testing.T) {
	objects := render(t, "--set", monitored)
	service := typed[monitoringv1.ServiceMonitor](t, find(t, objects, "ServiceMonitor", release))
	pod := typed[monitoringv1.PodMonitor](t, find(t, objects, "PodMonitor", release))
	if len(service.Spec.Endpoints) != 1 || len(pod.Spec.PodMetricsEndpoints) != 1 {
		t.Fatalf("endpoints: %+v, %+v", service.Spec.Endpoints, pod.Spec.PodMetricsEndpoints)
	}
	one, other := service.Spec.Endpoints[0], pod.Spec.PodMetricsEndpoints[0]
	if one.Port != *other.Port || one.Interval != other.Interval || !one.HonorLabels || !other.HonorLabels || one.Scheme != other.Scheme {
		t.Errorf("the monitors differ: %+v, %+v", one, other)
	}
	if diff := cmp.Diff(one.TLSConfig.SafeTLSConfig, *other.TLSConfig); diff != "" {
		t.Errorf("TLS (-ServiceMonitor +PodMonitor):\n%s", diff)
	}
	if secret := other.Authorization.Credentials; secret == nil || secret.Name != "scraper" || secret.Key != "token" {
		t.Errorf("the PodMonitor's token: %+v", secret)
	}
	for kind, selector := range map[string]map[string]string{"ServiceMonitor": service.Spec.Selector.MatchLabels, "PodMonitor": pod.Spec.Selector.MatchLabels} {
		labels, _, _ := unstructured.NestedStringMap(find(t, objects, "Deployment", release), "spec", "template", "metadata", "labels")
		for key, value := range selector {
			if labels[key] != value {
				t.Errorf("the %s selects %s=%s, pods have %v", kind, key, value, labels)
			}
		}
	}
}

func TestPodMonitorNeedsAToken(t *testing.T) {
	const on = "metrics.podMonitor.enabled=true"
	_, err := helm(t, release, "--set", on)
	must.Say(t, err, "metrics.podMonitor.tokenSecret is required")
	monitor := typed[monitoringv1.PodMonitor](t, find(t, render(t, "--set", on+",metrics.secure=false"), "PodMonitor", release))
	if e := monitor.Spec.PodMetricsEndpoints[0]; e.TLSConfig != nil || e.Authorization != nil || e.Scheme != "" {
		t.Errorf("over plain HTTP: %+v", e)
	}
}

func TestPrometheusRuleHasTheRules(t *testing.T) {
	if has(render(t), "PrometheusRule") {
		t.Error("a PrometheusRule is there without having been asked for")
	}
	rule := typed[monitoringv1.PrometheusRule](t, find(t, render(t, "--set", monitored+",metrics.prometheusRule.labels.team=perf"), "PrometheusRule", release))
	if diff := cmp.Diff(readRules(t), rule.Spec); diff != "" {
		t.Errorf("rules (-%s +PrometheusRule):\n%s", rulesFile, diff)
	}
	if rule.Labels["team"] != "perf" {
		t.Errorf("labels: %v", rule.Labels)
	}
	// Of another release, the jobs have another name.
	objects, err := helm(t, "perf", "--set", monitored)
	must.Succeed(t, err)
	other := typed[monitoringv1.PrometheusRule](t, find(t, objects, "PrometheusRule", "perf-loadtest-operator"))
	text, err := yaml.Marshal(other.Spec)
	must.Succeed(t, err)
	if !strings.Contains(string(text), `up{job=~"(.+/)?perf-loadtest-operator(-metrics)?"} == 0`) {
		t.Errorf("rules of another release:\n%s", text)
	}
}

// TestConfigHasTheSameMonitoring keeps config/prometheus, which -update writes: what the
// chart adds for a Prometheus Operator and for Grafana, without the chart's own labels.
func TestConfigHasTheSameMonitoring(t *testing.T) {
	folder := filepath.Join("..", "..", "config", "prometheus")
	const readers = ",metrics.readers[0].name=prometheus-k8s,metrics.readers[0].namespace=monitoring"
	for file, key := range map[string]struct{ kind, name string }{
		"servicemonitor.yaml": {"ServiceMonitor", release}, "podmonitor.yaml": {"PodMonitor", release}, "rules.yaml": {"PrometheusRule", release},
		"dashboard.yaml": {"ConfigMap", release + "-dashboard"}, "reader.yaml": {"ClusterRoleBinding", release + "-metrics-reader"},
	} {
		object := find(t, render(t, "--set", monitored+readers), key.kind, key.name)
		forgetLabels(object)
		want, err := yaml.Marshal(object)
		must.Succeed(t, err)
		golden.Check(t, filepath.Join(folder, file), string(want))
	}
	// All but the PodMonitor, of which the ServiceMonitor takes the place.
	var kinds []string
	for _, object := range kustomize(t, "prometheus") {
		kinds = append(kinds, object.GetKind())
	}
	same.As(t, "kinds of config/prometheus", []string{"ClusterRoleBinding", "ConfigMap", "PrometheusRule", "ServiceMonitor"}, kinds)
}
