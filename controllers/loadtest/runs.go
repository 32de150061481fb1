package loadtest

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

// Runs brings the coordinator's notifications, which know a run by its UID, to
// the reconciler, which knows a LoadTest by its name. It also keeps the assignments of
// each run, which are made once.
type Runs struct {
	events chan event.GenericEvent

	mu    sync.Mutex
	known map[coordinator.RunID]knownRun
}

// knownRun is what is kept of a run.
type knownRun struct {
	name types.NamespacedName
	// generation is that of the spec from which the assignments were made.
	generation  int64
	assignments []*workerv1.Assignment
}

// NewRuns returns an empty Runs.
func NewRuns() *Runs {
	return &Runs{events: make(chan event.GenericEvent, 1024), known: map[coordinator.RunID]knownRun{}}
}

// Learn remembers the run of a LoadTest that has been taken up, and returns its
// assignments. It makes them once, and again when the spec has changed: a run that was
// suspended before its first step may be resumed with another one, under the same UID
// and with another plan in status. A run is learnt by one goroutine at a time; what
// takes long is done outside the lock, for which the coordinator waits.
func (r *Runs) Learn(run coordinator.RunID, lt *v1alpha1.LoadTest) []*workerv1.Assignment {
	r.mu.Lock()
	known, ok := r.known[run]
	r.mu.Unlock()
	if ok && known.generation == lt.Generation {
		return known.assignments
	}
	known = knownRun{client.ObjectKeyFromObject(lt), lt.Generation, plan.Assignments(lt)}
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

// Notify has the run's LoadTest reconciled. A notification for which there is
// no room may be dropped: the coordinator sends another within a second, and
// what it says is state.
func (r *Runs) Notify(run coordinator.RunID) {
	r.mu.Lock()
	known, ok := r.known[run]
	r.mu.Unlock()
	if !ok {
		return
	}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: known.name.Namespace, Name: known.name.Name}}
	select {
	case r.events <- event.GenericEvent{Object: obj}:
	default:
	}
}

// requestOfPod is the LoadTest whose worker a pod is, by its label.
func requestOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	name, ok := pod.GetLabels()[desired.LabelName]
	if _, isPod := pod.(*corev1.Pod); !ok || !isPod {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}
