package attack

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// scheduler sends one part of a step. Its feed says what is sent next, its driver
// sends it. Only one goroutine at a time may use it, but for begin and end, which
// concern one request only.
type scheduler struct {
	run      *Execution
	feed     feed
	driver   driver
	inFlight int // requests that the driver has
	stopped  bool
}

// feed says what is sent next, and over which connection.
type feed interface {
	// fill adds the connections with which the step begins.
	fill()
	// next is when the next request is due that has a connection to go over; ok
	// is false while there is none.
	next() (due time.Duration, ok bool)
	// take takes that request: the connection's hit is set.
	take() *connSlot
	// render renders the request of a connection, which take has returned.
	render(c *connSlot, b *source.Buffer)
	// ended takes the connection of a request back that has ended, dropped that of
	// one that was not sent because the window had closed.
	ended(c *connSlot, res result)
	dropped(c *connSlot)
	// stop forgets what was not sent.
	stop()
}

// driver sends requests and waits for what comes back. There are three: event
// loops, a goroutine for each connection, and vegeta's Attacker.
type driver interface {
	// drive runs the scheduler until all was sent and nothing is in flight.
	drive()
	// add adds a connection.
	add(c transport.Conn) *connSlot
	// send sends the request of a connection. It calls begin, then end and ended,
	// or dropped if begin has refused.
	send(c *connSlot)
	// wait waits until an instant, or less if a request ended or the step is
	// stopped. It may wait a little longer, never beyond that.
	wait(until time.Duration)
	// opening is how many connections are being opened.
	opening() int
	// interrupt ends what is in flight.
	interrupt()
}

// connSlot is a connection of a scheduler, and the request that it carries.
type connSlot struct {
	socket interface{ IsOpen() bool }
	index  int // in the scheduler
	shard  int // of the recorder
	hit    hit
}

const (
	// atOnce is how many requests are sent before responses are looked at: a
	// response that waits for long would be measured as slow.
	atOnce = 32
	// never is when nothing is due.
	never = time.Duration(math.MaxInt64)
)

// send sends until nothing is to be sent or in flight.
func (s *scheduler) send() {
	if !s.start() {
		return
	}
	for s.wait() {
		s.sendBatch()
	}
}

// start waits for the step's start; it returns false if the step is cut before.
func (s *scheduler) start() bool {
	s.feed.fill()
	x := s.run
	for x.elapsed() < -x.step.WarmUp && !x.stopped.Load() {
		s.driver.wait(-x.step.WarmUp)
	}
	return x.begin()
}

// wait waits until a request is due, or something else happens; it returns false
// when nothing is to be sent or in flight.
func (s *scheduler) wait() bool {
	due, ok := s.next()
	if !ok {
		return false
	}
	s.driver.wait(due)
	if s.run.stopped.Load() {
		s.stop()
	}
	return true
}

// next is when there is something to do, as far as is known; ok is false when
// there will be nothing more.
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

// sendBatch sends what is due, up to a number.
func (s *scheduler) sendBatch() {
	now := s.run.elapsed()
	for range atOnce {
		if !s.sendDue(now) {
			return
		}
	}
}

// sendDue sends the next request if it is due; it returns false if none is.
func (s *scheduler) sendDue(now time.Duration) bool {
	due, ok := s.feed.next()
	if !ok || due > now {
		return false
	}
	s.inFlight++
	s.driver.send(s.feed.take())
	return true
}

// begin renders and counts the request of a connection, which is sent then. It
// returns false if it may not be sent any more.
func (s *scheduler) begin(c *connSlot, b *source.Buffer) bool {
	x := s.run
	s.feed.render(c, b)
	c.hit.sent = x.elapsed()
	if !x.maySend(c.hit.due, c.hit.sent) {
		return false
	}
	if c.hit.counts() {
		x.rec.countSent(c.shard, &c.hit, b.Client)
	}
	return true
}

// end counts what became of the request of a connection.
func (s *scheduler) end(c *connSlot, r transport.Response, err error) result {
	x := s.run
	if err != nil && x.stopped.Load() {
		err = failure.ErrInterrupted // whatever error the interruption caused
	}
	res := x.judge(&c.hit, r, err)
	if c.hit.counts() {
		x.rec.countEnd(c.shard, &c.hit, res)
	}
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

// stop ends what is in flight, and forgets what was not sent.
func (s *scheduler) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	s.feed.stop()
	s.driver.interrupt()
}
