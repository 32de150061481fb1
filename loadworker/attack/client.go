package attack

import (
	"fmt"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// client is a line with the buffers of the request on it. A user has one for
// good; arrivals take one for each hit.
type client struct {
	line   transport.Conn
	buffer source.Buffer
	shard  int
	// opened is told once when the connection was opened; nil: nobody waits.
	opened func()
}

func (c *client) isOpen() bool { return c.line.IsOpen() }

// grace is how late a request may be sent when that is after the window has
// closed. Even the best pacing is a little late, so that without it the last
// requests of every step would be unsent.
const grace = measure.LateAfter

// open says whether a request may be sent at an instant: it must be due within
// the window, and sent within it or in time.
func (x *Execution) open(due, at time.Duration) bool {
	end := x.closes()
	return at >= due && due < end && (at < end || at-due <= grace) && !x.stopped.Load()
}

// send sends what was rendered, if it may still be sent, and counts it.
func (c *client) send(x *Execution, h *hit) (res result, status int, err error) {
	defer c.tellOpened()
	h.sent = x.elapsed()
	if !x.open(h.due, h.sent) {
		return result{}, 0, errClosed
	}
	if h.counts() {
		x.rec.began(c.shard, h, c.buffer.Client)
	}
	deadline := x.start.Add(h.sent + x.timeout)
	if c.opened != nil {
		err = c.line.Open(x.ctx, deadline)
		c.tellOpened()
	}
	var response transport.Response
	if err == nil {
		response, err = c.line.Do(x.ctx, &c.buffer.Request, deadline)
	}
	res = x.judge(h, response, err)
	if h.counts() {
		x.rec.ended(c.shard, h, res)
	}
	return res, response.Status, err
}

func (c *client) tellOpened() {
	if c.opened != nil {
		c.opened()
		c.opened = nil
	}
}

// judge says what became of a hit.
func (x *Execution) judge(h *hit, r transport.Response, err error) result {
	res := result{received: x.elapsed(), reused: r.Reused}
	res.inWindow = res.received <= x.closes()
	if err != nil {
		res.outcome = failure.Classify(err)
		x.sample(h, res.outcome, func() string { return err.Error() })
		return res
	}
	res.status = r.Status
	res.expected = x.source.Expected(h.request, r.Status)
	res.outcome = measure.ClassifyStatus(r.Status, res.expected)
	if !res.expected {
		x.sample(h, res.outcome, func() string {
			return fmt.Sprintf("request %q: status %d %s", x.source.Name(h.request), r.Status, http.StatusText(r.Status))
		})
		return res
	}
	if wrong := x.source.CheckBody(h.request, &r); wrong != nil {
		res.expected, res.outcome = false, measure.BadResponse
		x.sample(h, res.outcome, func() string { return fmt.Sprintf("request %q: %v", x.source.Name(h.request), wrong) })
	}
	return res
}

// counts says whether a hit is part of the result: what is due in the warm-up is
// not, in any count, ledger or sample, although it may be sent or answered later.
func (h *hit) counts() bool { return h.due >= 0 }

func (x *Execution) sample(h *hit, o measure.Outcome, text func() string) {
	if h.counts() {
		x.rec.errors.add(o, text)
	}
}

// failedPause is how long a user of a closed loop waits after a request that
// reached nobody. Without it, users that are refused would do nothing but dial.
const failedPause = 100 * time.Millisecond

// unreachable says whether a request failed before the target saw it.
func unreachable(o measure.Outcome) bool {
	return o == measure.Refused || o == measure.DNS || o == measure.TLS || o == measure.Other
}
