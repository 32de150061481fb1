package attack

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// scheduler sends one part of a step: its feed chooses the next request, and its
// driver sends it. One goroutine at a time may use it; begin and end, which concern
// one request only, are an exception.
type scheduler struct {
	x           *Execution
	part, parts int64 // this one, from 0, of so many
	feed        feed
	driver      driver
	inFlight    int // requests that the driver has
	sent        int // since the last batch
	stopped     bool
}

// feed chooses the next request and its connection.
type feed interface {
	// next is the due time of the next request that has a connection; ok is false
	// while there is none.
	next() (due time.Duration, ok bool)
	// take takes that request: the connection's hit is set.
	take() *connSlot
	// render renders the request of a connection, which take has returned.
	render(c *connSlot, b *source.Buffer)
	// ended frees the connection of a request that has ended, dropped that of a
	// request that was not sent because the window had closed.
	ended(c *connSlot, res result)
	dropped(c *connSlot)
	// stop forgets the requests that were not sent.
	stop()
}

// driver sends requests and waits for their responses.
type driver interface {
	// drive runs the scheduler until all was sent and nothing is in flight.
	drive()
	// add adds a connection.
	add(c transport.Conn) *connSlot
	// send sends the request of a connection: it calls begin, then end and ended,
	// or dropped if begin refuses.
	send(c *connSlot)
	// wait waits until an instant. It ends early when a request ends, or when the
	// step is stopped.
	wait(until time.Duration)
	// mayOpen reports whether another connection may be opened: few of those that are
	// being opened take processor time.
	mayOpen() bool
	// interrupt ends the requests in flight.
	interrupt()
}

// connSlot is a connection of a scheduler, and the request that it carries.
type connSlot struct {
	socket interface{ IsOpen() bool }
	index  int // in the scheduler
	shard  int // of the recorder
	hit    hit
	noted  *noted          // of its request, for a log; nil: there is none
	line   *replay.Request // that it is, of a log; nil: it is of the mix
	events *eventTimes     // of the stream that answers it; nil: no stream does
}

const (
	// atOnce is the number of requests that are sent before responses are read: a
	// response that waits for long would be measured as slow. A wait ends with up to
	// twice as many responses.
	atOnce = 32
	// never is the due time of no request.
	never = time.Duration(math.MaxInt64)
)

// count is how many of n numbers belong to this part.
func (s *scheduler) count(n int64) int64 { return (n - s.part + s.parts - 1) / s.parts }

// openings count the connections of this part that are being opened, and are full with its
// share of those that may be at once.
func (s *scheduler) openings(freed func()) *dial.Openings {
	return dial.NewOpenings(max(1, openAtOnce/int(s.parts)), freed)
}

// run sends until all was sent and nothing is in flight.
func (s *scheduler) run() {
	if !s.start() {
		return
	}
	for s.wait() {
		s.sendBatch()
	}
}

// start waits for the step's start; it returns false if the step is cut before.
func (s *scheduler) start() bool {
	x := s.x
	s.feed = x.schedule.feed(s)
	for x.elapsed() < -x.step.WarmUp && !x.stopped.Load() {
		s.driver.wait(-x.step.WarmUp)
	}
	return x.begin()
}

// wait waits until a request is due, or another has ended; it returns false when
// all was sent and nothing is in flight.
func (s *scheduler) wait() bool {
	due, ok := s.next()
	if !ok {
		return false
	}
	if s.stopped || !s.x.stopped.Load() { // what ends a wait may have come before it
		s.driver.wait(due)
	}
	if s.x.stopped.Load() {
		s.stop()
	}
	return true
}

// next is the due time of the next request, as far as it is known; ok is false when
// all was sent and nothing is in flight.
func (s *scheduler) next() (due time.Duration, ok bool) {
	if due, ok = s.feed.next(); ok {
		return due, true
	}
	return never, s.inFlight > 0
}

// add adds a connection, which a step before may have interrupted.
func (s *scheduler) add(c transport.Conn) *connSlot {
	c.Resume()
	return s.driver.add(c)
}

// sendBatch sends requests that are due, up to a number, of which those are that were sent after responses since
// the last batch.
func (s *scheduler) sendBatch() {
	for now := s.x.elapsed(); s.sent < atOnce && s.sendDue(now); {
	}
	s.sent = 0
}

// sendAfter sends the request, if any, that became due while a response was read. It sends no more than a batch
// between two waits, although more responses are read: so a worker that is behind has fewer and fewer requests in
// flight, over the connections that it has used last. To have one in flight over each connection would cost more
// processor time for each, and put it further behind.
func (s *scheduler) sendAfter(now time.Duration) {
	if s.sent < atOnce {
		s.sendDue(now)
	}
}

// sendDue sends the next request if it is due; it returns false if none is.
func (s *scheduler) sendDue(now time.Duration) bool {
	due, ok := s.feed.next()
	if !ok || due > now {
		return false
	}
	s.inFlight++
	s.sent++
	s.driver.send(s.feed.take())
	return true
}

// begin renders and counts the request of a connection before it is sent. It
// returns false if the request may not be sent any more.
func (s *scheduler) begin(c *connSlot, b *source.Buffer) bool {
	x := s.x
	s.feed.render(c, b)
	if sampler := x.runner.config.Traces; sampler != nil {
		c.hit.trace(sampler, b)
	}
	b.Request.Budget = x.runner.config.Bodies
	c.watch(x, b)
	c.hit.sent = x.elapsed()
	c.hit.idealSent = min(c.hit.idealSent, c.hit.sent)
	if !x.maySend(c.hit.due, c.hit.sent) {
		return false
	}
	c.hit.stalled = x.stood(c.hit.sent)
	x.rec.noteSent(c.shard, &c.hit, x.windowEnd())
	if c.hit.counts() {
		x.rec.countSent(c.shard, &c.hit)
		if b.Request.Target == 0 {
			x.rec.enterLedger(&c.hit, b.Client)
		}
	}
	if c.hit.walk != nil {
		c.hit.walk.sent(&c.hit, x.rec)
	}
	if x.runner.config.Log != nil {
		c.note(&b.Request)
	}
	return true
}

// end counts the outcome of the request of a connection.
func (s *scheduler) end(c *connSlot, r transport.Response, err error) result {
	x := s.x
	now := x.elapsed()
	if err != nil && x.stopped.Load() {
		err = failure.ErrInterrupted // whatever error the interruption caused
	}
	if err == nil && x.missed(&c.hit, &r, now) {
		err = errMissed
	}
	lingered := time.Duration(0)
	if r.Streamed.Left && err == nil {
		lingered = now - c.events.read // for the end of the response, which is no part of it
	}
	res := x.judge(&c.hit, &r, err, now-lingered)
	res.lingered = lingered
	x.rec.noteEnd(c.shard, &c.hit, res, x.windowEnd())
	if c.hit.counts() {
		x.rec.countEnd(c.shard, &c.hit, res)
		x.rec.keepTrace(&c.hit, res)
		if x.runner.config.Log != nil {
			x.log(c, r.Size, res, err)
		}
	}
	if c.events != nil { // once it is counted: a success that is on time is among the successes
		c.events.ended(&c.hit, &r, res)
	}
	r.Free()
	return res
}

// ended frees the connection of a request that has ended.
func (s *scheduler) ended(c *connSlot, res result) {
	s.inFlight--
	s.feed.ended(c, res)
}

// dropped frees the connection of a request that was not sent.
func (s *scheduler) dropped(c *connSlot) {
	s.inFlight--
	s.feed.dropped(c)
}

// stop ends the requests in flight, and forgets those that were not sent.
func (s *scheduler) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	s.feed.stop()
	s.driver.interrupt()
}
