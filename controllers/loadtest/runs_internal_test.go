package loadtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
)

// told are the names of the LoadTests that are to be looked at.
func told(r *Runs) []string {
	var names []string
	for {
		select {
		case e := <-r.events:
			names = append(names, e.Object.GetNamespace()+"/"+e.Object.GetName())
		default:
			return names
		}
	}
}

func TestRunsAreToldByTheirNames(t *testing.T) {
	r := NewRuns()
	a, b := types.NamespacedName{Namespace: "team", Name: "a"}, types.NamespacedName{Namespace: "team", Name: "b"}
	r.Learn("first", a)
	r.Learn("other", b)
	r.Learn("second", a) // the name was used again
	notify := func(want ...string) {
		t.Helper()
		for _, run := range []coordinator.RunID{"unknown", "first", "other"} {
			r.Notify(run)
		}
		if diff := cmp.Diff(want, told(r)); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	notify("team/a", "team/b")
	if gone := r.Forget(a); len(gone) != 2 || gone[0] == gone[1] || gone[0] == "other" || gone[1] == "other" {
		t.Errorf("forgot %q, want first and second", gone)
	}
	notify("team/b")
	if gone := r.Forget(a); len(gone) != 0 {
		t.Errorf("forgot %q once more", gone)
	}
}

// The coordinator must not wait for the reconciler.
func TestNotifyDoesNotBlock(t *testing.T) {
	r := NewRuns()
	r.Learn("run", types.NamespacedName{Namespace: "team", Name: "a"})
	for range cap(r.events) + 1 {
		r.Notify("run")
	}
	if n := len(told(r)); n != cap(r.events) || n == 0 {
		t.Errorf("told %d times, want as often as there is room, %d", n, cap(r.events))
	}
}

func TestRequestOfPod(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace = "team"
	if got := requestOfPod(t.Context(), pod); got != nil {
		t.Errorf("a pod of nobody has %v looked at", got)
	}
	pod.Labels = map[string]string{desired.LabelName: "a"}
	want := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "team", Name: "a"}}}
	if diff := cmp.Diff(want, requestOfPod(t.Context(), pod)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
