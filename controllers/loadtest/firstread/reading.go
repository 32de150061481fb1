package firstread

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// Reading is the first reading of one kind, by one informer or, in an operator that watches some
// namespaces alone, by one for each of them.
type Reading struct {
	mu   sync.Mutex
	left int // informers that have not read everything
	done chan struct{}
}

// New returns the reading by so many informers, one at least.
func New(informers int) *Reading {
	return &Reading{left: max(informers, 1), done: make(chan struct{})}
}

// Done is closed once all that is stored is in the cache, or has been since this process
// started.
func (r *Reading) Done() <-chan struct{} { return r.done }

// Complete says whether Done is closed; that of nil is, since nothing is read.
func (r *Reading) Complete() bool {
	if r == nil {
		return true
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// finish is called once by each informer.
func (r *Reading) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left == 0 {
		close(r.done)
	}
}

// What says what an informer reads.
type What struct {
	// First is a field selector: the objects that are listed first. The informer has synced when
	// they are in the cache.
	First string
	// Strip takes from an object what the cache does not keep: an object at a time, before the next
	// page is read.
	Strip toolscache.TransformFunc
}

// Informer returns an informer that has not been started. It must be the only one of its kind and
// namespaces.
func (r *Reading) Informer(what What, lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	l := &lister{from: lw, what: what, finish: r.finish}
	informer := toolscache.NewSharedIndexInformer(l, obj, resync, indexers)
	// It fails only for an informer that has stopped.
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: l.processed, UpdateFunc: func(_, o any) { l.processed(o) }, DeleteFunc: l.processed,
	})
	return informer
}
