package loadtestschedule

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
)

const (
	// firstAttempt is the wait after a LoadTest was refused. It doubles up to lastAttempt.
	firstAttempt = 10 * time.Second
	lastAttempt  = 5 * time.Minute
	// cacheDelay is how long the cache may lack a LoadTest that was created.
	cacheDelay = time.Minute
)

// note is what is kept in memory of a schedule from one pass to the next. All of it can be
// lost: a new operator comes to the same note by trying again.
type note struct {
	uid        types.UID
	generation int64
	// created is the LoadTest that was created last, and when.
	created   string
	createdAt time.Time
	// refused is why none was, and attempts how often in a row.
	refused  *decision.Refused
	attempts int
}

// hasCreated notes that a LoadTest is there.
func (n *note) hasCreated(name string, now time.Time) { n.created, n.createdAt = name, now }

// createdBeside is a LoadTest that was created and is not among those that were read.
func (n *note) createdBeside(runs []decision.LoadTest, now time.Time) string {
	isRead := slices.ContainsFunc(runs, func(r decision.LoadTest) bool { return r.Name == n.created })
	if isRead || now.Sub(n.createdAt) > cacheDelay {
		n.created = ""
	}
	return n.created
}

// isRefused notes that a LoadTest was not created.
func (n *note) isRefused(why decision.Problem, now time.Time) {
	wait := min(firstAttempt<<min(n.attempts, 10), lastAttempt)
	n.attempts++
	n.refused = &decision.Refused{Problem: why, Until: now.Add(wait)}
}

// isTaken notes that nothing is wrong with the LoadTest.
func (n *note) isTaken() { n.refused, n.attempts = nil, 0 }

// notes has a note for each schedule. The zero value is ready.
type notes struct {
	mu sync.Mutex
	of map[types.NamespacedName]*note
}

// get returns the note of a schedule. A refusal is one of the spec that was refused.
func (n *notes) get(s *v1beta1.LoadTestSchedule) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[types.NamespacedName]*note{}
	}
	name := client.ObjectKeyFromObject(s)
	known := n.of[name]
	if known == nil || known.uid != s.UID {
		known = &note{uid: s.UID}
		n.of[name] = known
	}
	if known.generation != s.Generation {
		known.generation = s.Generation
		known.isTaken()
	}
	return known
}

func (n *notes) drop(name types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, name)
}

// queue is that of the controller, once it has started. The zero value is ready.
type queue struct {
	mu sync.Mutex
	of workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (q *queue) start(_ context.Context, of workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of = of
	return nil
}

// add has a schedule reconciled. Until the controller has started it does nothing: each
// schedule has a pass then.
func (q *queue) add(name types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of != nil {
		q.of.Add(reconcile.Request{NamespacedName: name})
	}
}
