package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rules "github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What only some installations use, the operator may read only where a value asks for it.
func TestRightsFollowTheValues(t *testing.T) {
	for right, values := range map[string]struct{ with, without string }{
		"[autoscaling] resources:[horizontalpodautoscalers] verbs:[list]":                        {"environment.enabled=true", "environment.enabled=false"},
		"[metrics.k8s.io] resources:[pods] verbs:[list]":                                         {"environment.usage=true", "environment.usage=false"},
		"[apps] resources:[controllerrevisions daemonsets deployments statefulsets] verbs:[get]": {"rollouts.enabled=true", "rollouts.enabled=false"},
		"[] resources:[configmaps] verbs:[create get]":                                           {"config.results.volume=true,results.volume.emptyDir.medium=Memory", "config.limits.runs=1"},
	} {
		for value, want := range map[string]bool{values.with: true, values.without: false} {
			for _, namespaces := range []string{"", ",watchNamespaces={shop}"} {
				same.As(t, fmt.Sprintf("%s%s: a role has %s", value, namespaces, right), want, grants(render(t, "--set", value+namespaces), right))
			}
		}
	}
}

// With kustomize, who needs such a right applies its file.
func TestOptionalRolesAreThoseOfTheChart(t *testing.T) {
	for file, right := range map[string]string{
		"rollouts": "[apps] resources:[controllerrevisions daemonsets deployments statefulsets] verbs:[get]",
		"usage":    "[metrics.k8s.io] resources:[pods] verbs:[list]",
		"results":  "[] resources:[configmaps] verbs:[get]",
	} {
		text := must.ReadFile(t, "../../config/rbac/optional/"+file+".yaml")
		objects := decode(t, text)
		if len(objects) != 2 || !grants(objects, right) {
			t.Errorf("%s.yaml does not give %s", file, right)
		}
		bound := fmt.Sprint(objects[1].Object["roleRef"], objects[1].Object["subjects"])
		if want := fmt.Sprintf("name:%s] [map[kind:ServiceAccount name:%s namespace:%s]]", objects[0].GetName(), release, namespace); !strings.HasSuffix(bound, want) {
			t.Errorf("%s.yaml binds %s, want %s", file, bound, want)
		}
	}
}

// grants says whether a role has a right.
func grants(objects []unstructured.Unstructured, right string) bool {
	return slices.ContainsFunc(objects, func(o unstructured.Unstructured) bool {
		return strings.HasSuffix(o.GetKind(), "Role") && strings.Contains(fmt.Sprint(o.Object["rules"]), "apiGroups:"+right)
	})
}

// What pods use is read only where a value says so, and never without the pods themselves.
func TestUsageIsReadWhereAValueSaysSo(t *testing.T) {
	for value, want := range map[string]bool{"environment.usage=true": true, "environment.usage=false": false, "replicas=1": false} {
		same.As(t, value+": the operator reads it", want, slices.Contains(list(t, container(t, render(t, "--set", value)), "args"), any("--read-usage")))
	}
	_, err := helm(t, release, "--set", "environment.usage=true,environment.enabled=false")
	if want := "environment.usage: set environment.enabled, too"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// The Secret for Prometheus is in the operator's pods, where its flag has it by default, and the
// configuration is one that the operator takes.
func TestPrometheusOfTheAdministrator(t *testing.T) {
	objects := render(t, "--set", "prometheus.keysSecret=prometheus-keys,config.prometheus.url=https://prometheus:9090",
		"--set", "config.prometheus.queries[0].name=hits,config.prometheus.queries[0].expression=up,config.prometheus.queries[0].limit=20")
	type object = map[string]any
	mounts(t, objects, []any{object{"name": "prometheus", "secret": object{"secretName": "prometheus-keys", "optional": true}}},
		[]any{object{"name": "prometheus", "mountPath": "/etc/loadtest-operator/prometheus", "readOnly": true}})
	document := find(t, objects, "ConfigMap", release+"-config")["data"].(object)["config.yaml"].(string)
	p, err := rules.Load([]byte(document))
	if err != nil || p.Prometheus().URL != "https://prometheus:9090" || !p.For("shop").Queries.Allows("hits") {
		t.Errorf("%v of\n%s", err, document)
	}
}
