package attack

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// turns says when a user's requests are due.
type turns interface {
	// turn is when the k-th request of the worker's j-th user is due, who was
	// free since an instant; ok is false when there is none.
	turn(j, k int64, free time.Duration) (due time.Duration, ok bool)
	// pause is how long a user is not free after an outcome.
	pause(o measure.Outcome) time.Duration
}

// loop drives some of the users of a step, those whose number leaves the same
// remainder, from one thread. A user is then a value, not a goroutine: it takes
// a twentieth of the memory, and a quarter less processor time than a wait in
// the runtime's poller, of which each costs a read that finds nothing.
type loop struct {
	run    *Run
	users  users
	turns  turns
	net    *transport.Loop
	shard  int
	own    []looped
	queue  queue // users that wait for their due time
	active int   // users that have a request to come, or under way
	cut    bool
	buffer source.Buffer // of the request that is sent next
}

// looped is a user of a loop.
type looped struct {
	wire transport.Wire
	j, k int64 // the worker's j-th user has its k-th request under way, or to come
	free time.Duration
	hit  hit
}

// loops drives all users on loops, one for each processor, after their
// connections were opened. It fails when it cannot, before anything was sent.
func (x *Run) loops(u users, t turns) error {
	dialer, ok := x.runner.client.(*transport.Dialer)
	if !ok {
		return errors.ErrUnsupported
	}
	n := max(1, min(runtime.GOMAXPROCS(0), int(u.share.Count)))
	all := make([]*loop, n)
	for i := range all {
		l := &loop{run: x, users: u, turns: t, shard: i}
		var err error
		if l.net, err = dialer.NewLoop(x.start, l.done); err != nil {
			for _, made := range all[:i] {
				made.net.Close()
			}
			return err
		}
		all[i] = l
	}
	var group sync.WaitGroup
	for i, l := range all {
		group.Go(func() { l.drive(i, n) })
	}
	group.Wait()
	return nil
}

// drive drives the users first, first+stride, …; its goroutine keeps its thread.
func (l *loop) drive(first, stride int) {
	x := l.run
	defer context.AfterFunc(x.ctx, l.net.Wake)()
	l.own = make([]looped, (int(l.users.share.Count)-first+stride-1)/stride)
	l.queue = make(queue, 0, len(l.own))
	for i := range l.own {
		u := &l.own[i]
		u.wire.User, u.j = i, int64(first+i*stride)
		l.net.Add(&u.wire, x.clients[u.j].line.(*transport.Conn))
	}
	if x.await(pace.Precise()) {
		l.send()
	}
	for i := range l.own {
		l.net.Return(&l.own[i].wire, x.clients[l.own[i].j].line.(*transport.Conn))
	}
	l.net.Close()
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

// send sends until no user has a request to come.
func (l *loop) send() {
	for i := range l.own {
		l.next(i, -l.run.step.WarmUp, before)
	}
	for l.active > 0 {
		l.net.Wait(l.until(l.run.elapsed()))
		if l.run.stopped.Load() {
			l.stop()
		}
		now := l.run.elapsed()
		for range atOnce {
			if len(l.queue) == 0 || l.queue[0].due > now {
				break
			}
			e := l.queue.pop()
			l.begin(e.user, e.due)
		}
	}
}

// until is when the next request is due.
func (l *loop) until(now time.Duration) time.Duration {
	switch {
	case len(l.queue) == 0:
		return now + longWait
	case l.queue[0].due <= now:
		return now
	default:
		return max(l.queue[0].due, now+nap)
	}
}

// before is when nothing is due yet.
const before = time.Duration(math.MinInt64)

// next sends the next request of a user, who is free since an instant, or
// queues it if it is not yet due.
func (l *loop) next(user int, free, now time.Duration) {
	u := &l.own[user]
	due, ok := l.turns.turn(u.j, u.k, free)
	if !ok || l.cut {
		return
	}
	l.active++
	u.free = free
	if due <= now {
		l.begin(user, due)
		return
	}
	l.queue.push(entry{due: due, user: user})
}

// begin sends a request that is due.
func (l *loop) begin(user int, due time.Duration) {
	x, u := l.run, &l.own[user]
	u.hit = l.users.prepare(x, &l.buffer, u.j, u.k)
	u.hit.due, u.hit.free, u.hit.sent = due, u.free, x.elapsed()
	if !x.open(due, u.hit.sent) {
		l.active--
		return
	}
	if u.hit.counts() {
		x.rec.began(l.shard, &u.hit, l.buffer.Client)
	}
	l.net.Send(x.ctx, &u.wire, &l.buffer.Request, u.hit.sent+x.timeout)
}

// done counts what became of a request.
func (l *loop) done(w *transport.Wire, r transport.Response, err error) {
	x, u := l.run, &l.own[w.User]
	res := x.judge(&u.hit, r, err)
	if u.hit.counts() {
		x.rec.ended(l.shard, &u.hit, res)
	}
	l.active--
	u.k++
	l.next(w.User, res.received+l.turns.pause(res.outcome), res.received)
}

// stop ends what is in flight, and forgets who waits.
func (l *loop) stop() {
	if l.cut {
		return
	}
	l.cut = true
	l.active -= len(l.queue)
	l.queue = l.queue[:0]
	l.net.Cut()
}
