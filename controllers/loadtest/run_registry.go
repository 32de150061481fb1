package loadtest

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Runs brings the coordinator's notifications, which name a run by its UID, to
// the reconciler, which names a LoadTest by its name. It also keeps the assignments of
// each run, which are made once.
type Runs struct {
	mu    sync.Mutex
	known map[coordinator.RunID]knownRun
	queue workqueue.TypedRateLimitingInterface[reconcile.Request] // nil: not started
}

// knownRun is what is kept of a run.
type knownRun struct {
	name types.NamespacedName
	// generation is that of the spec from which the assignments were made, and start when the run had begun then:
	// one that gave its place back is planned anew, by the limits of then, also from the same spec.
	generation int64
	start      *metav1.Time
	// steps is how many steps of the status are in them: a search appends some.
	steps int
	// target and control are where connections to the targets may go to.
	to          exchange.Destinations
	assignments []*workerv1.Assignment
}

// NewRuns returns an empty Runs.
func NewRuns() *Runs {
	return &Runs{known: map[coordinator.RunID]knownRun{}}
}

// Note records the run of a LoadTest that has been taken up, and returns its
// assignments. It makes them once, again when the spec has changed (a run that was
// suspended before its first step may be resumed with another one, under the same UID
// and with another plan in status) or the run has begun anew, and again when a search has appended steps or where
// connections may go to has changed. A run is
// noted by one goroutine at a time; what takes long is done outside the lock, for which
// the coordinator waits.
func (r *Runs) Note(run coordinator.RunID, lt *v1beta1.LoadTest, to exchange.Destinations) []*workerv1.Assignment {
	r.mu.Lock()
	known, ok := r.known[run]
	r.mu.Unlock()
	if ok && known.generation == lt.Generation && known.start.Equal(lt.Status.StartTime) && known.steps >= len(lt.Status.Steps) && known.to.Same(to) {
		return known.assignments
	}
	known = knownRun{client.ObjectKeyFromObject(lt), lt.Generation, lt.Status.StartTime, len(lt.Status.Steps), to, plan.Assignments(lt)}
	if len(known.assignments) > 0 { // which share their targets
		to.Set(known.assignments[0])
	}
	r.mu.Lock()
	r.known[run] = known
	r.mu.Unlock()
	return known.assignments
}

// Forget drops the runs of a LoadTest that is gone, and says which they were:
// more than one if the name was used again before the first was forgotten.
func (r *Runs) Forget(name types.NamespacedName) []coordinator.RunID {
	r.mu.Lock()
	defer r.mu.Unlock()
	var gone []coordinator.RunID
	for run, known := range r.known {
		if known.name == name {
			delete(r.known, run)
			gone = append(gone, run)
		}
	}
	return gone
}

// Notify has the run's LoadTest reconciled, once for all notifications that come before
// the pass. Until the controller has started it does nothing: each LoadTest has a pass
// then.
func (r *Runs) Notify(run coordinator.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.known[run]; ok && r.queue != nil {
		r.queue.Add(reconcile.Request{NamespacedName: known.name})
	}
}

// Enqueue has LoadTests reconciled.
func (r *Runs) Enqueue(names []types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queue == nil {
		return // each LoadTest has a pass once the controller has started
	}
	for _, name := range names {
		r.queue.Add(reconcile.Request{NamespacedName: name})
	}
}

// start is the source of the controller whose queue notifications go to.
func (r *Runs) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = queue
	return nil
}

// requestOfPod is the LoadTest whose worker a pod is, by its label.
func requestOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	name, ok := pod.GetLabels()[desired.LabelName]
	if _, isPod := pod.(*corev1.Pod); !ok || !isPod {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}
