package attack

import (
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// follow takes a response, or the error in its place. If it is a redirect that is followed, the
// request goes on: the buffer has what is sent next, on the same connection and by the same
// deadline. Else the response, or the error that is returned, is the end of it.
//
// A chain of requests so has one outcome, and the times of the whole.
func (s *scheduler) follow(c *connSlot, b *source.Buffer, r *transport.Response, err error) (more bool, _ error) {
	x, h := s.x, &c.hit
	if err != nil || !x.source.Follows(h.request, r.Status) {
		return false, err
	}
	if h.redirect == nil {
		s.feed.render(c, b) // the buffer may have another request meanwhile
		h.reused = r.Reused
	}
	next, err := x.source.Follow(h.request, &b.Request, h.redirect, r)
	switch {
	case next == nil:
		h.notFollowed = err
		return false, nil
	case x.missed(h, r, x.elapsed()):
		return false, nil // it came too late
	case x.stopped.Load():
		return false, failure.ErrInterrupted
	}
	if h.walk != nil {
		h.walk.TakeCookies(r)
	}
	h.redirect = next
	h.waited += max(0, r.Waited)
	r.Free()
	s.feed.render(c, b)
	if x.runner.config.Traces != nil {
		b.Append(trace.Header, h.context.Append)
	}
	b.Request.Budget = x.runner.config.Bodies
	c.watch(x, b)
	if h.counts() {
		x.rec.countRedirect(c.shard, h)
	}
	return true, nil
}
