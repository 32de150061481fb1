package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// arrivalFeed feeds a scheduler with its part of a step's arrivals: the numbers of
// hits divided by that of parts leave the same remainder.
//
// Hits need no queue: those that wait are the next ones of the schedule, in its
// order. A hit for which there is no place waits, which counts into its response time.
type arrivalFeed struct {
	arrivals *arrivals
	sched    *scheduler
	places   places
	room     room
	backlog  *backlog

	// carried is how many of what came has its place: requests in flight, or sessions under way.
	carried func() int

	n  int64         // the next hit
	at time.Duration // its due time
}

// places are where the hits of arrivals go.
type places interface {
	vacancy() vacancy
	// take takes a place, of which there is one.
	take() *connSlot
	// put gives one back.
	put(c *connSlot)
}

// vacancy is whether there is a place, or why not.
type vacancy int

const (
	vacant  vacancy = iota
	opening         // as many connections are being opened as may be at once
	taken           // each connection that the worker may have carries a request
	full            // the target leaves no room on the connections that are shared
)

var _ feed = (*arrivalFeed)(nil)

// feed returns the scheduler's feed. All parts share the connections.
func (a *arrivals) feed(s *scheduler) feed {
	f := a.feedOf(s)
	if a.log != nil {
		f.at = 0 // it is known when the request is read
		return &recordedFeed{arrivalFeed: f, stream: a.log.read()}
	}
	return &f
}

func (a *arrivals) feedOf(s *scheduler) arrivalFeed {
	f := arrivalFeed{
		arrivals: a, sched: s, n: s.part, at: a.dueTimes.Due(s.part),
		room: newRoom(s.x.step.WarmUp), backlog: s.x.backlogs.add(s), carried: func() int { return s.inFlight },
	}
	if d, ok := s.driver.(*streamDriver); ok {
		f.places = newSharedConnections(d, a)
	} else {
		f.places = newOwnConnections(s, a)
	}
	return f
}

func (f *arrivalFeed) next() (time.Duration, bool) {
	return f.at, f.at < f.arrivals.duration && f.hasPlace()
}

// hasPlace reports whether there is a place for the next hit, and notes since when there has
// been one, or none. What waits at the end of the window is not sent any more.
func (f *arrivalFeed) hasPlace() bool {
	v, end := f.places.vacancy(), f.sched.x.windowEnd()
	switch {
	case v == vacant && f.room.lacks:
		var now, stood time.Duration
		if !f.room.isLeft { // else give asks for neither: to read the clock takes its time
			now, stood = f.now()
		}
		if f.room.give(now, stood, f.at) < end {
			f.backlog.first.Store(noHit)
		}
	case v > opening && !f.room.lacks:
		now, stood := f.now()
		f.room.lack(now, stood, f.carried(), v, f.sched.inFlight < f.carried())
		if now < end && f.room.ofTarget() {
			f.backlog.first.Store(f.n)
		}
	}
	return v == vacant
}

// now is the time, and for how long the process had stood still by then.
func (f *arrivalFeed) now() (now, stood time.Duration) {
	x := f.sched.x
	now = x.elapsed()
	return now, x.stood(now)
}

func (f *arrivalFeed) take() *connSlot {
	c := f.occupy()
	f.n += f.sched.parts
	f.at = f.arrivals.dueTimes.Due(f.n)
	return c
}

// occupy takes a place for the next hit.
func (f *arrivalFeed) occupy() *connSlot {
	c, since := f.places.take(), f.room.take(f.carried())
	c.hit = hit{number: f.n, due: f.at, free: since.measured, idealDue: f.at, idealSent: max(f.at, since.ideal)}
	return c
}

func (f *arrivalFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.arrivals.render(f.sched.x, b, &c.hit)
}

func (f *arrivalFeed) ended(c *connSlot, res result) {
	held := res.outcome == measure.Timeout && !res.excused()
	f.room.leave(instant{res.received - res.unread, c.hit.idealDone(res)}, f.carried(), held)
	f.places.put(c)
}

func (f *arrivalFeed) dropped(c *connSlot) {
	f.places.put(c)
	if c.hit.sent >= f.sched.x.windowEnd()+grace {
		f.stop() // none that is left can be sent
	}
}

func (f *arrivalFeed) stop() { f.at = never }
