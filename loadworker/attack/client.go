package attack

import (
	"fmt"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// client is a connection with the buffers of the request on it. A user has one
// for good; arrivals take one for each hit.
type client struct {
	conn   *transport.Conn
	buffer source.Buffer
	shard  int
}

// send sends what was rendered, if the window is still open, and counts it. It
// returns when the response was received, and what became of it.
func (c *client) send(x *Run, h *hit) (res result, sent bool, status int, err error) {
	h.sent = x.elapsed()
	if h.sent < 0 || h.sent >= x.closes() {
		return result{}, false, 0, errClosed
	}
	x.rec.began(c.shard, h, c.buffer.Client)
	status, err = c.conn.Do(x.ctx, &c.buffer.Request, x.start.Add(h.sent+x.timeout))
	res = x.judge(h, status, err)
	x.rec.ended(c.shard, h, res)
	return res, true, status, err
}

// judge says what became of a hit.
func (x *Run) judge(h *hit, status int, err error) result {
	res := result{received: x.elapsed()}
	res.inWindow = res.received <= x.closes()
	if err != nil {
		res.outcome = transport.Classify(err)
		x.rec.errors.add(res.outcome, func() string { return err.Error() })
		return res
	}
	res.expected = x.source.Expected(h.request, status)
	res.outcome = measure.ClassifyStatus(status, res.expected)
	if !res.expected {
		x.rec.errors.add(res.outcome, func() string {
			return fmt.Sprintf("request %q: status %d %s", x.source.Name(h.request), status, http.StatusText(status))
		})
	}
	return res
}

// failedPause is how long a user of a closed loop waits after a request that
// reached nobody. Without it, users that are refused would do nothing but dial.
const failedPause = 100 * time.Millisecond

// unreachable says whether a request failed before the target saw it.
func unreachable(o measure.Outcome) bool {
	return o == measure.Refused || o == measure.DNS || o == measure.TLS || o == measure.Other
}
