package chart_test

import (
	"fmt"
	"strings"
	"testing"
)

// Without the environment in the result, the operator may not read autoscalers.
func TestRightsFollowTheEnvironment(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		found := false
		for _, object := range render(t, "--set", fmt.Sprintf("environment.enabled=%t", enabled)) {
			found = found || strings.HasSuffix(object.GetKind(), "Role") && strings.Contains(fmt.Sprint(object.Object["rules"]), "horizontalpodautoscalers")
		}
		if found != enabled {
			t.Errorf("environment.enabled=%t: a role reads autoscalers: %t", enabled, found)
		}
	}
}
