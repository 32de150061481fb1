package loadtest

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

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
