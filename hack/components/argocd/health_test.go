package argocd

import (
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestHealth: Argo CD takes each status of our operator for what a person would.
func TestHealth(t *testing.T) {
	vm, had := engine(t), map[health.HealthStatusCode]bool{}
	for _, d := range statuses(t) {
		t.Run(d.name, func(t *testing.T) {
			got := healthOf(t, vm, d.Unstructured)
			had[got.Status] = true
			if want := expected(d.Unstructured); got.Status != want {
				t.Errorf("it is %s (%s), want %s", got.Status, got.Message, want)
			}
			if first := firstWord(d.Unstructured); !strings.HasPrefix(got.Message, first) {
				t.Errorf("the message %q does not begin with %q", got.Message, first)
			}
			if len(got.Message) < 10 || !strings.HasSuffix(got.Message, ".") {
				t.Errorf("the message %q is no sentence", got.Message)
			}
			t.Attr("seen", string(got.Status)+": "+got.Message)
		})
	}
	for _, status := range []health.HealthStatusCode{health.HealthStatusHealthy, health.HealthStatusDegraded, health.HealthStatusProgressing, health.HealthStatusSuspended} {
		if !had[status] {
			t.Errorf("no status is %s", status)
		}
	}
}

// expected is the health of a LoadTest by the words of its API.
func expected(o *unstructured.Unstructured) health.HealthStatusCode {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	switch {
	case observed != o.GetGeneration():
		return health.HealthStatusProgressing
	case field(o, "status", "verdict") == "Passed":
		return health.HealthStatusHealthy
	case conditionTrue(o, "Finished"):
		return health.HealthStatusDegraded
	case field(o, "status", "phase") == "Suspended":
		return health.HealthStatusSuspended
	}
	return health.HealthStatusProgressing
}

// firstWord is the verdict or, without one, the phase.
func firstWord(o *unstructured.Unstructured) string {
	if observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); observed != o.GetGeneration() {
		return "The operator has not seen"
	}
	if verdict := field(o, "status", "verdict"); verdict != "" {
		return verdict
	}
	return field(o, "status", "phase")
}

func healthOf(t *testing.T, vm lua.VM, o *unstructured.Unstructured) *health.HealthStatus {
	t.Helper()
	got, err := health.GetResourceHealth(o, lua.ResourceHealthOverrides(vm.ResourceOverrides))
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	return got
}

// A verdict is that of the generation that it was made for.
func TestHealthOfAnotherGeneration(t *testing.T) {
	vm := engine(t)
	for _, d := range statuses(t) {
		unstructured.RemoveNestedField(d.Object, "metadata", "deletionTimestamp")
		d.SetGeneration(d.GetGeneration() + 1)
		if got := healthOf(t, vm, d.Unstructured); got.Status != health.HealthStatusProgressing {
			t.Errorf("%s: it is %s: %s", d.name, got.Status, got.Message)
		}
	}
	for name, status := range map[string]any{"no status": nil, "the status that it is created with": map[string]any{"observedGeneration": int64(-1)}} {
		o := object(t, "{apiVersion: loadtest.dev/v1beta1, kind: LoadTest, metadata: {name: new, generation: 1}, spec: {}}")
		if status != nil {
			o.Object["status"] = status
		}
		got := healthOf(t, vm, o)
		if got.Status != health.HealthStatusProgressing {
			t.Errorf("%s: it is %s: %s", name, got.Status, got.Message)
		}
		t.Attr("seen", string(got.Status)+": "+got.Message)
	}
}
