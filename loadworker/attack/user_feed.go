package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// userSchedule says when a user's requests are due.
type userSchedule interface {
	// dueAt is when the k-th request of the worker's j-th user is due, who was
	// free since an instant; ok is false when there is none.
	dueAt(j, k int64, free time.Duration) (due time.Duration, ok bool)
	// pause is how long a user is not free after an outcome.
	pause(o measure.Outcome) time.Duration
}

// userFeed feeds a scheduler with the requests of some of a step's users, those
// whose number leaves the same remainder. Each has a connection of its own.
type userFeed struct {
	users    users
	schedule userSchedule
	sched    *scheduler
	first    int64 // the number of the first
	stride   int64 // from one to the next
	states   []userState
	queue    userQueue // users that wait for their due time
	stopped  bool
}

var _ feed = (*userFeed)(nil)

// userState is a user of a userFeed, at the index of its connection.
type userState struct {
	conn *connSlot
	k    int64 // its k-th request is in flight, or to come
	free time.Duration
}

// newUserFeed returns the i-th of n feeds.
func newUserFeed(u users, schedule userSchedule, s *scheduler, i, n int64) *userFeed {
	return &userFeed{users: u, schedule: schedule, sched: s, first: i, stride: n}
}

// number is that of a user among those of the worker.
func (f *userFeed) number(user int) int64 { return f.first + int64(user)*f.stride }

func (f *userFeed) fill() {
	n := (f.users.share.Count - f.first + f.stride - 1) / f.stride
	f.states, f.queue = make([]userState, n), make(userQueue, 0, n)
	for user := range f.states {
		f.states[user].conn = f.sched.add(f.sched.run.conns[f.number(user)])
		f.enqueue(user, -f.sched.run.step.WarmUp)
	}
}

// enqueue puts a user who is free since an instant in the queue, unless there is
// nothing more to send.
func (f *userFeed) enqueue(user int, free time.Duration) {
	u := &f.states[user]
	due, ok := f.schedule.dueAt(f.number(user), u.k, free)
	if !ok || f.stopped {
		return
	}
	u.free = free
	f.queue.push(queuedUser{due: due, user: user})
}

func (f *userFeed) next() (time.Duration, bool) {
	if len(f.queue) == 0 {
		return 0, false
	}
	return f.queue[0].due, true
}

func (f *userFeed) take() *connSlot {
	q := f.queue.pop()
	u := &f.states[q.user]
	u.conn.hit = hit{number: u.k, due: q.due, free: u.free}
	return u.conn
}

func (f *userFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.users.render(f.sched.run, b, f.number(c.index), c.hit.number)
}

func (f *userFeed) ended(c *connSlot, res result) {
	f.states[c.index].k++
	f.enqueue(c.index, res.received+f.schedule.pause(res.outcome))
}

// dropped ends a user: nothing that it would send later could be sent.
func (*userFeed) dropped(*connSlot) {}

func (f *userFeed) stop() { f.queue, f.stopped = f.queue[:0], true }

// userQueue is a binary heap of users, of which the first is due first.
type userQueue []queuedUser

// queuedUser is a user and when its next request is due.
type queuedUser struct {
	due  time.Duration
	user int
}

// push adds a user. One that is due last, as most are, stays where it is put.
func (q *userQueue) push(e queuedUser) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].due <= e.due {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	*q = h
}

// pop takes the first of a queue that is not empty.
func (q *userQueue) pop() queuedUser {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].due < h[child].due {
			child++
		}
		if last.due <= h[child].due {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
