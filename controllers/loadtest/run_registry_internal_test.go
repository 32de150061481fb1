package loadtest

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// started returns Runs whose notifications go to a queue.
func started(t *testing.T) *Runs {
	t.Helper()
	r := NewRuns()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	must.Succeed(t, r.start(t.Context(), queue))
	return r
}

// queued takes the names of the LoadTests that are to be reconciled from the queue.
func queued(r *Runs) []string {
	var names []string
	for range r.queue.Len() {
		request, _ := r.queue.Get()
		names = append(names, request.String())
		r.queue.Done(request)
	}
	return names
}

func named(name types.NamespacedName) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.Namespace, lt.Name = name.Namespace, name.Name
	return lt
}

// A run that was suspended before its first step and resumed with another spec has
// other assignments, and so has one that begins anew, by the limits of then; nothing else makes them anew.
func TestAssignmentsAreMadeOncePerPlan(t *testing.T) {
	r := NewRuns()
	lt := named(types.NamespacedName{Namespace: "team", Name: "a"})
	lt.Generation, lt.Status.Workers.Desired = 1, 2
	first := r.Note("run", lt, exchange.Destinations{})
	if len(first) != 2 {
		t.Fatalf("%d assignments, want 2", len(first))
	}
	if again := r.Note("run", lt, exchange.Destinations{}); again[0] != first[0] {
		t.Error("the assignments of one plan were made twice")
	}
	lt.Generation, lt.Status.Workers.Desired = 3, 5
	if resumed := r.Note("run", lt, exchange.Destinations{}); len(resumed) != 5 {
		t.Errorf("%d assignments of the second plan, want 5", len(resumed))
	}
	lt.Status.StartTime, lt.Status.Workers.Desired = &metav1.Time{Time: time.Unix(1, 0)}, 4
	if anew := r.Note("run", lt, exchange.Destinations{}); len(anew) != 4 {
		t.Errorf("%d assignments once it begins anew, want 4", len(anew))
	}
	lt.Status.Steps = make([]v1beta1.StepStatus, 3)
	grown := r.Note("run", lt, exchange.Destinations{})
	same.As(t, "steps that are assigned after a search appended some", 3, len(grown[0].Steps))
	lt.Status.Steps = nil // as the cache keeps a run that has ended
	if kept := r.Note("run", lt, exchange.Destinations{}); kept[0] != grown[0] {
		t.Error("the assignments of a run that has ended were made again")
	}
	r.Forget(types.NamespacedName{Namespace: "team", Name: "a"})
	if next := r.Note("run", lt, exchange.Destinations{}); len(next) != 4 {
		t.Errorf("%d assignments after the run was forgotten, want 4", len(next))
	}
}

func TestNotifyEnqueuesTheRunsLoadTest(t *testing.T) {
	r := started(t)
	a, b := types.NamespacedName{Namespace: "team", Name: "a"}, types.NamespacedName{Namespace: "team", Name: "b"}
	r.Note("first", named(a), exchange.Destinations{})
	r.Note("other", named(b), exchange.Destinations{})
	r.Note("second", named(a), exchange.Destinations{}) // the name was used again
	notify := func(want ...string) {
		t.Helper()
		for _, run := range []coordinator.RunID{"unknown", "first", "other"} {
			r.Notify(run)
		}
		same.As(t, "queued", want, queued(r))
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

func TestNotificationsBeforeAPassAreOne(t *testing.T) {
	r := started(t)
	for _, name := range []string{"a", "b"} {
		r.Note(coordinator.RunID(name), named(types.NamespacedName{Namespace: "team", Name: name}), exchange.Destinations{})
	}
	for range 5000 {
		r.Notify("a")
	}
	r.Notify("b")
	same.As(t, "queued", []string{"team/a", "team/b"}, queued(r))
}

func TestRequestOfPod(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace = "team"
	if got := requestOfPod(t.Context(), pod); got != nil {
		t.Errorf("a pod without labels enqueues %v", got)
	}
	pod.Labels = map[string]string{desired.LabelName: "a"}
	want := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "team", Name: "a"}}}
	same.As(t, "requests", want, requestOfPod(t.Context(), pod))
}
