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

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
)

// Runs brings the coordinator's notifications, which know a run by its UID, to
// the reconciler, which knows a LoadTest by its name.
type Runs struct {
	events chan event.GenericEvent

	mu    sync.Mutex
	names map[coordinator.RunID]types.NamespacedName
}

// NewRuns returns an empty Runs.
func NewRuns() *Runs {
	return &Runs{events: make(chan event.GenericEvent, 1024), names: map[coordinator.RunID]types.NamespacedName{}}
}

// Learn remembers the name of a run.
func (r *Runs) Learn(run coordinator.RunID, name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[run] = name
}

// Forget drops the runs of a LoadTest that is gone, and says which they were:
// more than one if the name was used again before the first was forgotten.
func (r *Runs) Forget(name types.NamespacedName) []coordinator.RunID {
	r.mu.Lock()
	defer r.mu.Unlock()
	var gone []coordinator.RunID
	for run, n := range r.names {
		if n == name {
			delete(r.names, run)
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
	name, ok := r.names[run]
	r.mu.Unlock()
	if !ok {
		return
	}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
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
