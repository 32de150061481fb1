package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// userSchedule has the due times of a user's requests.
type userSchedule interface {
	// dueAt is the due time of the k-th request of the worker's j-th user, which
	// has been free since an instant; ok is false when there is none.
	dueAt(j, k int64, free time.Duration) (due time.Duration, ok bool)
	// pause is the time after the outcome of that request until the user is free: what its
	// failure forces, and then what the user thinks.
	pause(j, k int64, o measure.Outcome) (forced, thinks time.Duration)
	// dropped counts a request that was not sent.
	dropped(h *hit)
}

// userFeed feeds a scheduler with the requests of its part of a step's users: the
// numbers of users divided by that of parts leave the same remainder. Each user
// has a connection of its own.
type userFeed struct {
	users    users
	schedule userSchedule
	sched    *scheduler
	states   []userState
	queue    userQueue  // users that wait for their due time
	draws    pace.Draws // of the waits of journeys
	stopped  bool
	// scheduled users are due by a schedule, others once they are free.
	scheduled bool
}

var _ feed = (*userFeed)(nil)

// userState is a user of a userFeed, at the index of its connection.
type userState struct {
	conn *connSlot
	k    int64 // its k-th request is in flight, or to come
	// free is since when the user is, idealFree since when it would be with a perfect
	// generator, and took how long its last request did.
	free, idealFree, took time.Duration
	walk                  *walk // nil: the mix has no journeys
}

func newUserFeed(u users, schedule userSchedule, s *scheduler) *userFeed {
	n := s.count(u.share.Count)
	f := &userFeed{users: u, schedule: schedule, sched: s, states: make([]userState, n), queue: make(userQueue, 0, n)}
	_, f.scheduled = schedule.(scheduledUsers)
	walks := f.walks()
	for user := range f.states {
		u, free := &f.states[user], -s.x.step.WarmUp
		u.conn = s.add(s.x.conns[f.number(user)])
		if walks != nil {
			u.walk = &walks[user]
			free += u.walk.First(f.draws)
		}
		f.enqueue(user, free, 0)
	}
	return f
}

// number is a user's number among those of the worker.
func (f *userFeed) number(user int) int64 { return f.sched.part + int64(user)*f.sched.parts }

// enqueue puts a user, which has been free since an instant, in the queue, unless
// all its requests were sent. The generator has delayed that instant by lag.
func (f *userFeed) enqueue(user int, free, lag time.Duration) {
	u := &f.states[user]
	u.free, u.idealFree = free, free-lag
	due, ok := f.schedule.dueAt(f.number(user), u.k, free)
	if !ok || f.stopped {
		return
	}
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
	u.conn.hit = hit{number: u.k, due: q.due, free: u.free, walk: u.walk}
	u.conn.hit.idealDue = f.idealDue(u, q.due)
	u.conn.hit.idealSent = max(u.conn.hit.idealDue, u.idealFree)
	return u.conn
}

func (f *userFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.users.render(f.sched.x, b, f.number(c.index), &c.hit)
}

func (f *userFeed) ended(c *connSlot, res result) {
	u := &f.states[c.index]
	lag := c.hit.lag(res)
	forced, thinks := f.schedule.pause(f.number(c.index), u.k, res.outcome)
	free := res.received + res.lingered + forced + thinks
	if x := f.sched.x; forced > 0 && !res.exhausted {
		x.rec.course(c.shard).pause(res.received, res.received+forced, x.windowEnd())
	}
	u.k++
	u.took = res.received - res.unreadAtMost - c.hit.sent
	if u.walk != nil {
		free = f.goOn(c.index, free, lag, res)
	}
	f.enqueue(c.index, free, lag)
	if res.outcome == measure.Unfinished {
		u.idealFree = never // when it would have been answered is not known
	}
}

// dropped ends a user: none of its later requests could be sent.
func (f *userFeed) dropped(c *connSlot) {
	f.schedule.dropped(&c.hit)
	f.holdUp(c.hit.due, c.hit.sent)
}

// stop forgets the users that wait. Those among them that were due were held up until now.
func (f *userFeed) stop() {
	now := f.sched.x.elapsed()
	for _, q := range f.queue {
		f.holdUp(q.due, now)
	}
	f.queue, f.stopped = f.queue[:0], true
}

// holdUp notes that a user was due, and did not send, between two instants.
func (f *userFeed) holdUp(due, until time.Duration) {
	if x := f.sched.x; !f.scheduled {
		x.rec.course(0).holdUp(due, until, x.windowEnd())
	}
}

// users are one worker's users of a step. Each has a connection.
type users struct {
	share pace.Share
	total int64
}

func (s StepShare) users() users { return users{share: s.Share, total: s.Total} }

func (u users) connections() int { return int(u.share.Count) }

func (u users) maxParts() int64 { return u.share.Count }

// render renders a request of the worker's j-th user into a buffer, and returns its index
// in the mix.
func (u users) render(x *Execution, b *source.Buffer, j int64, h *hit) int {
	user, k := u.share.Number(j), h.number
	v := source.Vars{
		User: user, Seq: k*u.total + user, Users: u.total, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order:    source.Order{Start: user, By: 1, N: k, Stream: j, Streams: u.share.Count},
		Redirect: h.redirect,
	}
	if h.walk != nil {
		return h.walk.Render(b, v)
	}
	request := x.source.RequestOf(user, k)
	x.source.Render(b, request, v)
	return request
}

// userQueue is a binary heap of users; the first is due first.
type userQueue []queuedUser

// queuedUser is a user and when its next request is due.
type queuedUser struct {
	due  time.Duration
	user int
}

// push adds a user. One that is due last, as most are, is not moved.
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
