package chart_test

import (
	"fmt"
	"strings"
	"testing"
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
				found := false
				for _, object := range render(t, "--set", value+namespaces) {
					found = found || strings.HasSuffix(object.GetKind(), "Role") && strings.Contains(fmt.Sprint(object.Object["rules"]), "apiGroups:"+right)
				}
				if found != want {
					t.Errorf("%s%s: a role has %s: %t, want %t", value, namespaces, right, found, want)
				}
			}
		}
	}
}
