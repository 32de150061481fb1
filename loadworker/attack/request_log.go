package attack

import (
	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// noted is what a log says of a request that is under way.
type noted struct {
	method string
	path   []byte
	bytes  int
	target int
}

// note notes the request of a connection: what it was rendered into is used again.
func (c *connSlot) note(r *transport.Request) {
	if c.noted == nil {
		c.noted = &noted{}
	}
	c.noted.method, c.noted.bytes, c.noted.target = r.Method, len(r.Body), r.Target
	c.noted.path = append(c.noted.path[:0], r.Path...)
}

// log records a request that has ended.
func (x *Execution) log(c *connSlot, size int64, res result, err error) {
	r := requestlog.Record{
		Step: x.step.Index, Sent: x.start.Add(c.hit.sent), Latency: res.received - c.hit.sent,
		BytesIn: size, BytesOut: int64(c.noted.bytes), Target: c.noted.target, Method: c.noted.method, Path: c.noted.path,
	}
	if err != nil {
		r.Error = err.Error()
		x.runner.config.Log.Add(r)
		return
	}
	r.Code, r.Error = measure.HTTPStatus(res.status), res.unexpected() // the format has no others
	x.runner.config.Log.Add(r)
}

// unexpected is why a whole response does not count as expected; empty: it does. What was answered is not shown.
func (r *result) unexpected() string {
	switch {
	case r.expected:
		return ""
	case r.outcome == measure.BadResponse:
		return "the body is not expected"
	case r.outcome == measure.EndedEarly:
		return "the stream ended without its last event, or without any"
	}
	return source.StatusText(r.status)
}
