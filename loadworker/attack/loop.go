package attack

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
)

// feed says what a loop sends next, and over which of its connections.
type feed interface {
	// fill adds the connections with which the loop begins.
	fill()
	// next is when the next request is due that has a connection to go over; ok
	// is false while there is none.
	next() (due time.Duration, ok bool)
	// take renders that request into the loop's buffer. The slot has its hit.
	take() *slot
	// ended takes the slot of a request back that has ended, dropped that of one
	// that was not sent: the window had closed.
	ended(s *slot, res result)
	dropped(s *slot)
	// stop forgets what was not sent.
	stop()
}

// loop drives a part of a step from one goroutine. A request under way is then a
// value, not one more: it takes a twentieth of the memory, and a quarter less
// processor time than a wait in the runtime's poller, of which each costs a read
// that finds nothing.
type loop struct {
	run    *Execution
	feed   feed
	net    *http1.Loop
	shard  int
	slots  []*slot // by the tag of their wire
	flying int     // requests under way
	cut    bool
	buffer source.Buffer // of the request that is sent next
}

// slot is a connection of a loop, and the request that is under way on it.
type slot struct {
	wire http1.LoopConn
	line *http1.Conn // has the socket before and after the step
	hit  hit
}

func (s *slot) isOpen() bool { return s.wire.IsOpen() }

// loops drives a step on loops, one for each processor but at most so many. feeds
// makes that of the i-th of n. It fails when there can be no loops, before
// anything was sent.
func (x *Execution) loops(most int64, feeds func(l *loop, i, n int64) feed) error {
	client, ok := x.runner.client.(*http1.Client)
	if !ok {
		return errors.ErrUnsupported
	}
	n := max(1, min(int64(runtime.GOMAXPROCS(0)), most))
	var all []*loop
	for i := range n {
		l := &loop{run: x, shard: int(i)}
		l.feed = feeds(l, i, n)
		var err error
		if l.net, err = client.NewLoop(x.start, l.done); err != nil {
			for _, made := range all {
				made.net.Close()
			}
			return err
		}
		all = append(all, l)
	}
	x.looped.Store(true)
	var group sync.WaitGroup
	for _, l := range all {
		group.Go(l.drive)
	}
	group.Wait()
	return nil
}

// drive drives the loop from the step's start to its end.
func (l *loop) drive() {
	defer context.AfterFunc(l.run.ctx, l.net.Wake)()
	l.feed.fill()
	if l.run.await(pace.Precise()) {
		l.send()
	}
	for _, s := range l.slots {
		l.net.Return(&s.wire, s.line)
	}
	l.net.Close()
}

// add adds a connection.
func (l *loop) add(c *client) *slot {
	s := &slot{line: c.line.(*http1.Conn)}
	s.wire.Tag = len(l.slots)
	l.slots = append(l.slots, s)
	l.net.Add(&s.wire, s.line)
	return s
}

const (
	// atOnce is how many requests are sent before responses are looked at: a
	// response that waits for long would be measured as slow.
	atOnce = 32
	// nap bounds the wake-ups for requests, at the price of as much lateness.
	nap = 50 * time.Microsecond
	// longWait is when nothing is due: an event ends it.
	longWait = time.Minute
)

// send sends until nothing is to be sent or under way.
func (l *loop) send() {
	for {
		due, ok := l.feed.next()
		if !ok && l.flying == 0 {
			return
		}
		l.net.Wait(wakeAt(l.run.elapsed(), due, ok))
		if l.run.stopped.Load() {
			l.stop()
		}
		now := l.run.elapsed()
		for range atOnce {
			if !l.sendDue(now) {
				break
			}
		}
	}
}

// wakeAt is up to when a loop may wait for events.
func wakeAt(now, due time.Duration, ok bool) time.Duration {
	switch {
	case !ok:
		return now + longWait
	case due <= now:
		return now
	default:
		return max(due, now+nap)
	}
}

// sendDue sends the next request if it is due and may still be sent. It returns
// false if there is none.
func (l *loop) sendDue(now time.Duration) bool {
	if due, ok := l.feed.next(); !ok || due > now {
		return false
	}
	x, s := l.run, l.feed.take()
	s.hit.sent = x.elapsed()
	if !x.open(s.hit.due, s.hit.sent) {
		l.feed.dropped(s)
		return true
	}
	if s.hit.counts() {
		x.rec.began(l.shard, &s.hit, l.buffer.Client)
	}
	l.flying++
	l.net.Send(x.ctx, &s.wire, &l.buffer.Request, s.hit.sent+x.timeout)
	return true
}

// done counts what became of a request, and sends another, which may have waited
// for its connection.
func (l *loop) done(w *http1.LoopConn, r transport.Response, err error) {
	x, s := l.run, l.slots[w.Tag]
	res := x.judge(&s.hit, r, err)
	if s.hit.counts() {
		x.rec.ended(l.shard, &s.hit, res)
	}
	l.flying--
	l.feed.ended(s, res)
	l.sendDue(res.received)
}

// stop ends what is under way, and forgets what was not sent.
func (l *loop) stop() {
	if l.cut {
		return
	}
	l.cut = true
	l.feed.stop()
	l.net.Interrupt()
}
