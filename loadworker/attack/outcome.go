package attack

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// hit is one request on its way.
type hit struct {
	// number is the user's, or that of the arrivals.
	number  int64
	request int // of the mix
	// due is the instant to send it at; free is when the user could, if later.
	due, free time.Duration
	sent      time.Duration
	// idealDue and idealSent are when it would have been due, and sent, with a perfect
	// generator.
	idealDue, idealSent time.Duration
	// stalled is for how long the process had stood still in the step when it was sent.
	stalled time.Duration
	ledger  *measure.Ledger // nil: not audited
	walk    *walk           // of the user; nil: the mix has no journeys
	begins  bool            // it is the first of a session that comes
	sampled bool            // traceID is that of the trace that the target was asked for
	traceID measure.TraceID
	// redirect is the last that was followed, and notFollowed why one was not; context is what
	// each request of the chain says of the trace.
	redirect    *source.Redirect
	notFollowed error
	context     trace.Context
	// waited is how long the responses that were redirects waited to be read, and reused whether
	// the connection of the first request had carried another before.
	waited time.Duration
	reused bool
	head   bool // a line of HEAD
}

// counts reports whether a hit is part of the result: a hit of the warm-up is not,
// in any count, ledger or sample, even if it is sent or answered later.
func (h *hit) counts() bool { return h.due >= 0 }

// result is the outcome of a hit.
type result struct {
	received time.Duration
	// lingered is for how long the end of a response was awaited after the last event of a stream; 0: it came.
	lingered time.Duration
	waited   time.Duration // before it was read; 0: not known
	sampled  bool          // waited is of the fair sample
	// unread is how much of the time until received it was over, and not noticed: waited,
	// or by how much a timeout was noticed too late. unreadAtMost is more where that is not
	// known: as long as the process stood still meanwhile.
	unread, unreadAtMost time.Duration
	outcome              measure.Outcome
	status               int // of a whole response
	expected             bool
	inWindow             bool
	reused               bool // the connection had carried a request before
	// undecided says that a request that has not ended waited for less than its timeout, and
	// stalled that the process stood still for a notable part of that.
	undecided, stalled bool
	// cut says that it has not ended because the step was cut.
	cut bool
	// exhausted says that this process had no descriptor, or no port, for it.
	exhausted bool
}

// decision is the outcome for the ledger of a client. A limiter that answers 5xx has granted
// nothing, although a user expects it.
func (r result) decision() measure.Outcome {
	if r.outcome == measure.Success && measure.HTTPStatus(r.status) >= 500 {
		return measure.ServerError
	}
	return r.outcome
}

// errClosed is the error of a request that was not sent because the window had
// closed.
var errClosed = errors.New("the window has closed")

// grace is the lateness with which a request may be sent after the window has
// closed. Even the best pacing is a little late: without it, the last requests of
// every step would be unsent.
const grace = measure.LateAfter

// maySend reports whether a request may be sent at an instant: it must be due
// within the window, and sent within it or in time.
func (x *Execution) maySend(due, at time.Duration) bool {
	end := x.windowEnd()
	return at >= due && due < end && (at < end || at-due <= grace) && !x.stopped.Load()
}

// errMissed is the error of a response that came after its timeout.
var errMissed = &failure.Error{Phase: failure.Reading, Err: os.ErrDeadlineExceeded}

// missed reports whether a response is known to have come after its timeout, though it was
// read: the process may have stood still.
func (x *Execution) missed(h *hit, r *transport.Response, now time.Duration) bool {
	return r.WaitExact && now-r.Waited-h.sent > x.timeout(h)
}

// judge classifies the response to a hit, or the error, which came now.
func (x *Execution) judge(h *hit, r *transport.Response, err error, now time.Duration) result {
	res := result{received: now, reused: r.Reused, waited: r.Waited, sampled: r.WaitSampled}
	if h.redirect != nil {
		res.reused = h.reused
	}
	took := res.received - h.sent
	res.unread = min(max(0, r.Waited)+h.waited, took)
	res.unreadAtMost = res.unread
	// A handshake, the window of a response that comes in parts, and a redirect wait for the process, too.
	if !r.WaitExact || !r.InOneRead || !r.Reused || h.redirect != nil {
		res.unreadAtMost = max(res.unread, min(x.stoodSince(h, res.received), took))
	}
	res.inWindow = res.received <= x.windowEnd()
	if err != nil {
		x.judgeError(h, r, err, &res)
		return res
	}
	res.status = r.Status
	res.expected = x.source.Expected(h.request, r.Status)
	res.outcome = measure.ClassifyStatus(r.Status, res.expected)
	if !res.expected {
		if h.walk != nil {
			h.walk.Refuse(r)
		}
		x.sample(h, res.outcome, func() string {
			said := fmt.Sprintf("request %q: status %s", x.source.Name(h.request), source.StatusText(r.Status))
			if problem := x.source.Problem(h.request); problem != "" {
				said += "; " + problem
			}
			if h.notFollowed != nil {
				said += ": " + x.message(h.notFollowed)
			}
			return said
		})
		return res
	}
	if h.head {
		return res // it has no body
	}
	wrong, as := x.checkStream(h, r), measure.EndedEarly
	if wrong == nil {
		wrong, as = x.checkBody(h, r), measure.BadResponse
	}
	if wrong != nil {
		res.expected, res.outcome = false, as
		if h.walk != nil {
			h.walk.Refuse(r)
		}
		x.sample(h, res.outcome, func() string { return fmt.Sprintf("request %q: %s", x.source.Name(h.request), x.message(wrong)) })
	}
	return res
}

// judgeError classifies the error that came in the place of a whole response.
func (x *Execution) judgeError(h *hit, r *transport.Response, err error, res *result) {
	res.outcome, res.exhausted = failure.Classify(err), failure.IsDescriptors(err) || failure.IsPorts(err)
	switch {
	case errors.Is(err, failure.ErrCancelled) && res.received-h.sent >= x.timeout(h):
		res.outcome = measure.Timeout // the server, too, has noticed the deadline that a call has
	case res.outcome == measure.Reset && r.Streamed.Events > 0:
		res.outcome = measure.BrokenOff
	}
	x.judgeWait(h, res)
	x.sample(h, res.outcome, func() string { return x.message(err) })
}

// checkBody returns an error for a body that is not expected, or that lacks what the
// user's journey captures. It accepts any body of a 429, which ends a journey.
func (x *Execution) checkBody(h *hit, r *transport.Response) error {
	if err := x.source.CheckBody(h.request, r); err != nil || h.walk == nil {
		return err
	}
	if measure.IsRateLimited(r.Status) {
		h.walk.Refuse(r)
		return nil
	}
	return h.walk.Answer(r)
}

func (x *Execution) message(err error) string {
	return failure.Message(err, x.runner.config.ExposeResponses)
}

func (x *Execution) sample(h *hit, o measure.Outcome, text func() string) {
	if h.counts() {
		x.rec.errors[h.request].add(o, text)
	}
}
