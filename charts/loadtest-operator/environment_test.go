package chart_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What only some installations use, the operator may read only where a value asks for it.
func TestRightsFollowTheValues(t *testing.T) {
	for right, values := range map[string]struct{ with, without string }{
		"[autoscaling] resources:[horizontalpodautoscalers] verbs:[list]":                        {"environment.enabled=true", "environment.enabled=false"},
		"[apps] resources:[controllerrevisions daemonsets deployments statefulsets] verbs:[get]": {"rollouts.enabled=true", "rollouts.enabled=false"},
		"[] resources:[configmaps] verbs:[create get]":                                           {"config.results.volume=true,results.volume.emptyDir.medium=Memory", "config.limits.runs=1"},
	} {
		for value, want := range map[string]bool{values.with: true, values.without: false} {
			for _, namespaces := range []string{"", ",watchNamespaces={shop}"} {
				if found := grants(render(t, "--set", value+namespaces), right); found != want {
					t.Errorf("%s%s: a role has %s: %t, want %t", value, namespaces, right, found, want)
				}
			}
		}
	}
}

// With kustomize, who needs such a right applies its file.
func TestOptionalRolesAreThoseOfTheChart(t *testing.T) {
	for file, right := range map[string]string{
		"rollouts": "[apps] resources:[controllerrevisions daemonsets deployments statefulsets] verbs:[get]",
		"results":  "[] resources:[configmaps] verbs:[get]",
	} {
		text, err := os.ReadFile("../../config/rbac/optional/" + file + ".yaml")
		must.Succeed(t, err)
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
