package loadtest

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// note is what is kept in memory of a LoadTest from one pass to the next. All of it
// can be lost: a new operator comes to the same note by trying again.
type note struct {
	// uid and generation are those of the LoadTest, and of its spec, that it is about.
	uid        types.UID
	generation int64
	// wakeAt is the instant for which the latest decision asked; zero: none.
	wakeAt time.Time
	// conflicts counts the passes in a row whose status was of a cache that was behind.
	conflicts int
	// seconds is what the latest decision keeps of a step that runs.
	seconds verdict.Seconds
	// written is the latest write of the status.
	written lifecycle.Written
	// version is that of the object after it, until it is read back.
	version string
	// jobExists says that there is a Job of the name, which the cache may not have.
	jobExists bool
	// refused is why the Job was not created.
	refused *lifecycle.Refusal
	// stored is the name of the archive that was stored and may not be named by the
	// status yet, and storedBytes is what it cost the store.
	stored      string
	storedBytes int
	storedSum   string
	// looked is the latest reading of a target.
	looked *targetstate.Seen
	// access is the latest reading of where the targets lead to.
	access *targetaccess.Access
	// storing is the step whose archive was not stored, tries how often it was tried,
	// and unstored the archive that was given up.
	storing, storeTries int
	unstored            *lifecycle.Unstored
	// panics counts the passes in a row that panicked, statusRefusals those whose status
	// was refused. One too many of either is the cause why the run is abandoned.
	panics, statusRefusals int
	cause                  *lifecycle.Cause
	// unwritable says that the status of the finished run is not taken any more. It is not
	// written then: what is kept of the run is known to this process alone.
	unwritable bool
}

const (
	// maxPanics is how many passes in a row may panic: 5 s, as the back-off doubles.
	maxPanics = 10
	// maxStatusRefusals is how often a status may be refused that may be taken later:
	// half a minute.
	maxStatusRefusals = 15
)

// panicked notes that a pass did, and returns what there is to say of it.
func (n *note) panicked(cause any, stack []byte) error {
	n.panics++
	if n.panics >= maxPanics && n.cause == nil {
		n.cause = lifecycle.PassFailed(text.Clean(fmt.Sprint(cause), writes.MaxMessage), 0)
	}
	return fmt.Errorf("panic %d in a row: %v\n%s", n.panics, cause, stack)
}

// statusRefused notes that the status was not taken. One of a finished run says no more
// than that its results are kept.
func (n *note) statusRefused(refusal *lifecycle.Refusal, finished bool) {
	n.statusRefusals++
	switch {
	case finished:
		n.unwritable = true
	case n.cause != nil:
		smaller := *n.cause
		smaller.Refused++
		n.cause = &smaller
	case refusal.Permanent || n.statusRefusals >= maxStatusRefusals:
		n.cause = lifecycle.StatusRefused(refusal.Message, 0)
	}
}

// passed notes that nothing was refused.
func (n *note) passed() { n.conflicts, n.statusRefusals = 0, 0 }

// hasMore says whether a pass noted what the next one is to observe: a refusal, or a Job.
func (n *note) hasMore(before *note) bool {
	return n.refused != before.refused && n.refused != nil || n.jobExists && !before.jobExists
}

// isAbout has the note be about this spec of this LoadTest: what was noted of another is
// dropped.
func (n *note) isAbout(lt *v1alpha1.LoadTest) {
	if n.uid != lt.UID || n.generation != lt.Generation {
		*n = note{uid: lt.UID, generation: lt.Generation}
	}
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

const (
	// firstRetry is the time to the second try of a pass that failed. It doubles with
	// each try up to lastRetry, so that a run goes on within seconds of the end of an
	// outage, however long that was.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
	// conflictRetry is the same for a status of a cache that was behind: the watch
	// brings what is newer, in milliseconds as a rule.
	conflictRetry = 100 * time.Millisecond
)

// retries says when a pass that failed is tried again: after the back-off, or at the
// instant for which the latest decision asked if that comes first. A deadline holds
// while the API server fails.
type retries struct {
	workqueue.TypedRateLimiter[ctrl.Request]
	notes *notes
	clock clock.PassiveClock
}

var _ workqueue.TypedRateLimiter[ctrl.Request] = retries{}

func newRetries(n *notes, c clock.PassiveClock) retries {
	return retries{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](firstRetry, lastRetry), n, c}
}

// When is how long to wait. An instant that is past is no reason to hurry: the pass
// at that instant has failed as well.
func (r retries) When(req ctrl.Request) time.Duration {
	backoff := r.TypedRateLimiter.When(req)
	if wait := r.notes.get(req.NamespacedName).wakeAt.Sub(r.clock.Now()); wait > firstRetry {
		return min(backoff, wait)
	}
	return backoff
}

// onConflict is how long to wait after the nth conflict in a row, from 1.
func onConflict(n int) time.Duration {
	return min(conflictRetry<<min(n-1, 10), lastRetry)
}

// refusedBy is the refusal that an error is, for the next decision.
func refusedBy(err error, now time.Time) (refusal *lifecycle.Refusal, ok bool) {
	r, ok := writes.RefusalOf(err)
	if !ok {
		return nil, false
	}
	return &lifecycle.Refusal{Message: r.Message, Permanent: r.Permanent, At: now}, true
}
