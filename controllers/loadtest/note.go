package loadtest

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// note is what is kept in memory of a LoadTest from one pass to the next. All of it
// can be lost: a new operator comes to the same note by trying again.
type note struct {
	// uid and generation are those of the LoadTest, and of its spec, that it is about.
	uid        types.UID
	generation int64
	// wakeAt is the instant for which the latest decision asked; zero: none.
	wakeAt time.Time
	// began is when this process first looked at the step that runs.
	began began
	// seconds is what the latest decision keeps of a step that runs.
	seconds verdict.Seconds
	// jobExists says that there is a Job of the name, which the cache may not have.
	jobExists bool
	// written is the latest write of the status, and version that of the object after it,
	// until it is read back.
	written lifecycle.Written
	version string

	// uncreated is why LoadTests of loads were not created, by load, and loadRefused that a pass noted
	// one that the next is to observe.
	uncreated   map[string]uncreated
	loadRefused bool

	lookups   lookups
	archiving archiving
	refusals  refusals
}

// reset clears the note unless it is about this LoadTest and this generation of its spec. Where the targets of
// a run lead to stays: they do not change once it has begun, and an author who edits the spec again and again
// would have it forgotten how long a Service has sent elsewhere.
func (n *note) reset(lt *v1beta1.LoadTest) {
	if n.isOf(lt) {
		return
	}
	next := note{uid: lt.UID, generation: lt.Generation}
	if n.uid == lt.UID && lt.Status.StartTime != nil {
		next.lookups.access = n.lookups.access
	}
	*n = next
}

// isOf says whether the note is about this LoadTest and this generation of its spec.
func (n *note) isOf(lt *v1beta1.LoadTest) bool {
	return n.uid == lt.UID && n.generation == lt.Generation
}

// began is a reading of the clock in the step of an index.
type began struct {
	step int32
	at   time.Time
}

// instant is that of a pass. While a step runs, it is as much after the first one of the step as the
// process has lived since then: a clock that is set forward in a step would have every worker late,
// and one that is set back would have the step last longer. The next step is chosen by the clock as
// it is then. On a machine that was suspended, what is left of the step seems longer. A run whose loads
// are carried out by LoadTests of their own sends nothing itself: it has the clock that these have.
func (n *note) instant(lt *v1beta1.LoadTest, c clock.PassiveClock) time.Time {
	if lt.Status.Phase != v1beta1.PhaseRunning || len(lt.Status.Loads) > 0 {
		n.began = began{}
		return c.Now()
	}
	if n.began.at.IsZero() || n.began.step != lt.Status.CurrentStep {
		n.began = began{lt.Status.CurrentStep, c.Now()}
	}
	return n.began.at.Add(c.Since(n.began.at))
}

// notes has a note for each LoadTest that is being reconciled. A LoadTest is reconciled
// by one goroutine at a time, so that only the map is shared. The zero value is ready.
type notes struct {
	mu sync.Mutex
	of map[types.NamespacedName]*note
}

// get returns the note of a LoadTest; it makes one if there is none.
func (n *notes) get(name types.NamespacedName) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[types.NamespacedName]*note{}
	}
	if n.of[name] == nil {
		n.of[name] = &note{}
	}
	return n.of[name]
}

func (n *notes) drop(name types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, name)
}
