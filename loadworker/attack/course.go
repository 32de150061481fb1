package attack

import (
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// course counts what happens in the course of a step, without a lock: slot by slot of its
// planned window, and the time of its users. Requests of the warm-up count, too, with what
// they take of the window: a target, and a user, have them on their hands.
type course struct {
	window time.Duration
	// What was sent, answered, and ended otherwise, first before the window, then in each
	// slot of it. A request that is the first of a session has begun it.
	sent, answered, failed, begun [1 + measure.TimelineSlots]atomic.Int64
	waited, heldUp                atomic.Int64
	_                             [cacheLine]byte // the window of the next course is read at each request
}

// cacheLine is the size of those of most processors.
const cacheLine = 64

func newCourses(n int, window time.Duration) []course {
	all := make([]course, n)
	for i := range all {
		all[i].window = window
	}
	return all
}

// courseOf says what of the course of a step is counted, which depends on its load.
type courseOf struct {
	users  bool // of users
	closed bool // of users without a schedule
	burst  bool
	// sessions are those that come; nil: another load.
	sessions *sessions
	each     int64  // how many requests each user of a burst sends
	first    latest // that the first request of a user of a burst was sent, from when it was due
}

// follow has the recorder count what there is of a load.
func (r *recorder) follow(s schedule, l Load) {
	_, arrivals := s.(*arrivals)
	sessions, come := s.(*sessions)
	r.of.sessions = sessions
	users, closed := s.(*closedUsers)
	r.of.users, r.of.closed, r.of.burst = !arrivals && !come, closed, isBurst(l)
	if closed {
		r.of.each = users.requests
	}
	if !closed {
		r.displaced = measure.Displacement(l.length())
	}
}

// at is where an instant counts; ok is false after the window.
func (c *course) at(t time.Duration) (i int, ok bool) {
	if t < 0 {
		return 0, true
	}
	i = 1 + int(t*measure.TimelineSlots/c.window)
	return i, i <= measure.TimelineSlots
}

// endOf is the first instant, in whole nanoseconds, after a slot.
func (c *course) endOf(slot int) time.Duration {
	return (c.window*time.Duration(slot+1) + measure.TimelineSlots - 1) / measure.TimelineSlots
}

func (r *recorder) course(shard int) *course { return &r.courses[shard%len(r.courses)] }

// noteSent notes that a request is sent, in a step whose window ends at an instant.
func (r *recorder) noteSent(shard int, h *hit, end time.Duration) {
	c := r.course(shard)
	if i, ok := c.at(h.sent); ok {
		c.sent[i].Add(1)
		if h.begins {
			c.begun[i].Add(1)
		}
	}
	switch {
	case r.of.burst && h.number == 0:
		r.of.first.note(h.sent - h.due)
	case r.of.closed:
		c.holdUp(h.due, h.sent, end)
	}
}

// noteEnd notes that a request has ended, or was interrupted.
func (r *recorder) noteEnd(shard int, h *hit, res result, end time.Duration) {
	c := r.course(shard)
	over := res.received - res.unread
	if i, ok := c.at(over); ok && res.outcome.Responded() {
		c.answered[i].Add(1)
	} else if ok && res.outcome != measure.Unfinished {
		c.failed[i].Add(1)
	}
	if last := r.of.burst && h.number+1 == r.of.each; r.of.closed && !last {
		c.holdUp(res.received-res.unreadAtMost, res.received, end)
	}
	if r.of.users && !res.expected && !res.excused() && (!res.cut || !res.undecided) {
		c.waited.Add(int64(within(h.sent, over, end)))
	}
}

// pause notes that a user pauses between two instants, because its request failed. It waits
// for the target as long, as if a request were in flight that fails at the end of it.
func (c *course) pause(from, until, end time.Duration) {
	c.waited.Add(int64(within(from, until, end)))
	if i, ok := c.at(from); ok {
		c.sent[i].Add(1)
	}
	if i, ok := c.at(until); ok {
		c.failed[i].Add(1)
	}
}

// holdUp notes that the generator has held up a user between two instants.
func (c *course) holdUp(from, until, end time.Duration) {
	if d := within(from, until, end); d > 0 {
		c.heldUp.Add(int64(d))
	}
}

// within is how much of the time between two instants is within a window.
func within(from, until, end time.Duration) time.Duration {
	return max(0, min(until, end)-max(from, 0))
}

// addCourseTo adds the times of users.
func (r *recorder) addCourseTo(m *measure.Measurement) {
	for i := range r.courses {
		m.Waited += time.Duration(r.courses[i].waited.Load())
		m.HeldUp += time.Duration(r.courses[i].heldUp.Load())
	}
	m.BurstSpread = r.of.first.load()
}

// latest is the latest of some instants, none of which is before 0.
type latest struct{ at atomic.Int64 }

func (l *latest) note(t time.Duration) {
	for old := l.at.Load(); int64(t) > old && !l.at.CompareAndSwap(old, int64(t)); old = l.at.Load() {
	}
}

func (l *latest) load() time.Duration { return time.Duration(l.at.Load()) }
