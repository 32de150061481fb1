package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// turns says when a user's requests are due.
type turns interface {
	// turn is when the k-th request of the worker's j-th user is due, who was
	// free since an instant; ok is false when there is none.
	turn(j, k int64, free time.Duration) (due time.Duration, ok bool)
	// pause is how long a user is not free after an outcome.
	pause(o measure.Outcome) time.Duration
}

// crowd feeds a loop with the requests of some of a step's users, those whose
// number leaves the same remainder. Each has a connection of its own.
type crowd struct {
	users
	turns   turns
	loop    *loop
	first   int64 // the number of the first
	stride  int64 // from one to the next
	own     []looped
	queue   queue // users that wait for their due time
	stopped bool
}

var _ feed = (*crowd)(nil)

// looped is a user of a loop.
type looped struct {
	k    int64 // its k-th request is under way, or to come
	free time.Duration
}

// loops drives all users on loops.
func (u users) loops(x *Execution, t turns) error {
	return x.loops(u.share.Count, func(l *loop, i, n int64) feed {
		return &crowd{users: u, turns: t, loop: l, first: i, stride: n}
	})
}

// number is that of an own user among those of the worker.
func (c *crowd) number(user int) int64 { return c.first + int64(user)*c.stride }

func (c *crowd) fill() {
	n := (c.share.Count - c.first + c.stride - 1) / c.stride
	c.own, c.queue = make([]looped, n), make(queue, 0, n)
	for user := range c.own {
		c.loop.add(c.loop.run.clients[c.number(user)])
		c.line(user, -c.loop.run.step.WarmUp)
	}
}

// line puts a user who is free since an instant in the queue, unless there is
// nothing more to send.
func (c *crowd) line(user int, free time.Duration) {
	u := &c.own[user]
	due, ok := c.turns.turn(c.number(user), u.k, free)
	if !ok || c.stopped {
		return
	}
	u.free = free
	c.queue.push(entry{due: due, user: user})
}

func (c *crowd) next() (time.Duration, bool) {
	if len(c.queue) == 0 {
		return 0, false
	}
	return c.queue[0].due, true
}

func (c *crowd) take() *slot {
	e := c.queue.pop()
	u, s := &c.own[e.user], c.loop.slots[e.user]
	s.hit = c.prepare(c.loop.run, &c.loop.buffer, c.number(e.user), u.k)
	s.hit.due, s.hit.free = e.due, u.free
	return s
}

func (c *crowd) ended(s *slot, res result) {
	user := s.wire.Tag
	c.own[user].k++
	c.line(user, res.received+c.turns.pause(res.outcome))
}

// dropped ends a user: nothing that it would send later could be sent.
func (*crowd) dropped(*slot) {}

func (c *crowd) stop() { c.queue, c.stopped = c.queue[:0], true }
