package loadtest

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxPanics is how many passes in a row may panic: 5 s, as the back-off doubles.
	maxPanics = 10
	// maxStatusRefusals is how often a status may be refused that may be taken later:
	// half a minute.
	maxStatusRefusals = 15
)

// refusals record what the API server refused of a LoadTest, and what failed. One too many is
// the cause why the run is abandoned.
type refusals struct {
	// job is why the Job was not created; nil: it was, or was not tried.
	job *lifecycle.Refusal
	// conflicts counts the passes in a row whose status was of a cache that was behind,
	// statuses those whose status was refused, and panics those that panicked.
	conflicts, statuses, panics int
	// cause is why the run is abandoned; nil: it is not. Another cause is another value: it
	// is not changed.
	cause *lifecycle.Cause
	// unwritable says that the status of the finished run is not taken any more. It is not
	// written then: what is kept of the run is known to this process alone.
	unwritable bool
}

// panicked notes that a pass did, and returns what there is to say of it.
func (r *refusals) panicked(cause any, stack []byte) error {
	r.panics++
	if r.panics >= maxPanics && r.cause == nil {
		r.cause = lifecycle.PassFailed(text.Clean(fmt.Sprint(cause), writes.MaxMessage), 0)
	}
	return fmt.Errorf("panic %d in a row: %v\n%s", r.panics, cause, stack)
}

// statusRefused notes that the status was not taken. One of a finished run says no more
// than that its results are kept.
func (r *refusals) statusRefused(refusal *lifecycle.Refusal, finished bool) {
	r.statuses++
	switch {
	case finished:
		r.unwritable = true
	case r.cause != nil:
		smaller := *r.cause
		smaller.Refused++
		r.cause = &smaller
	case refusal.Permanent || r.statuses >= maxStatusRefusals:
		r.cause = lifecycle.StatusRefused(refusal.Message, 0)
	}
}

// passed notes a pass in which nothing was refused.
func (r *refusals) passed() { r.conflicts, r.statuses = 0, 0 }

// refusedBy is the refusal that an error is, for the next decision.
func refusedBy(err error, now time.Time) (refusal *lifecycle.Refusal, ok bool) {
	r, ok := writes.RefusalOf(err)
	if !ok {
		return nil, false
	}
	return &lifecycle.Refusal{Message: r.Message, Permanent: r.Permanent, At: now}, true
}
