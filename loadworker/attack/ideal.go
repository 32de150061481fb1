package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// A perfect generator sends at once what it is free to send, and reads at once what has come.
// What it would have measured follows from the same service times:
//
//	idealSent = max(idealDue, idealFree)
//	idealDone = idealSent + service - unreadAtMost
//	idealFree = idealDone + think time
//
// A user with a schedule is due when its schedule says; any other when it is free. The lag of
// a user is by how much the generator has delayed it: free - idealFree. It goes on through the
// warm-up, whose delays a user takes into the window: its measured times have them, too.

// idealDone is when the request would have ended.
func (h *hit) idealDone(res result) time.Duration {
	return h.idealSent + res.received - res.unreadAtMost - h.sent
}

// idealResponse is the response time that a perfect generator would have measured.
func (h *hit) idealResponse(res result) time.Duration { return h.idealDone(res) - h.idealDue }

// lag is by how much later the request has ended than it would have.
func (h *hit) lag(res result) time.Duration { return res.received - h.idealDone(res) }

// idealDue is when a user would have been due that is due at an instant.
func (f *userFeed) idealDue(u *userState, due time.Duration) time.Duration {
	if f.scheduled {
		return due
	}
	return due - (u.free - u.idealFree)
}

// excusedPart of a timeout is how much of it the process may stand still: beyond it, the
// target may have answered in time.
const excusedPart = 10

// excused reports whether a request timed out while the process stood still.
func (r *result) excused() bool { return r.outcome == measure.Timeout && r.stalled }

// stoodSince is for how long the process has stood still since a request was sent.
func (x *Execution) stoodSince(h *hit, now time.Duration) time.Duration {
	return x.stood(now) - h.stalled
}

// judgeWait says what the wait for an answer that did not come is worth.
func (x *Execution) judgeWait(h *hit, res *result) {
	if res.outcome != measure.Timeout && res.outcome != measure.Unfinished {
		return
	}
	waited, timeout := res.received-h.sent, x.timeout(h)
	overrun := max(0, waited-timeout) // the timeout was noticed that much later
	stood := x.stoodSince(h, res.received)
	res.stalled = stood-overrun > timeout/excusedPart
	if res.outcome == measure.Timeout {
		res.unread = max(res.unread, overrun)
		res.unreadAtMost = res.unread
	} else {
		res.undecided = waited < timeout || res.stalled
		res.cut = x.cut.Load()
	}
}
