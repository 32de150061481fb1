package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
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

	n  int64         // the next hit
	at time.Duration // its due time
}

// places are where the hits of arrivals go.
type places interface {
	// free reports whether there is one for a hit, the next one, which is due at an instant.
	free(hit int64, due time.Duration) bool
	// take takes one. since is the instant at which the target left room for one again, if it
	// had left none.
	take() (c *connSlot, since instant)
	// put gives one back.
	put(c *connSlot)
}

var _ feed = (*arrivalFeed)(nil)

// feed returns the scheduler's feed. All parts share the connections.
func (a *arrivals) feed(s *scheduler) feed {
	f := &arrivalFeed{arrivals: a, sched: s, n: s.part, at: a.dueTimes.Due(s.part)}
	if d, ok := s.driver.(*streamDriver); ok {
		f.places = newSharedConnections(d, a)
	} else {
		f.places = newOwnConnections(s, a)
	}
	return f
}

func (f *arrivalFeed) next() (time.Duration, bool) {
	return f.at, f.at < f.arrivals.duration && f.places.free(f.n, f.at)
}

func (f *arrivalFeed) take() *connSlot {
	c, since := f.places.take()
	c.hit = hit{number: f.n, due: f.at, free: since.measured, idealDue: f.at, idealSent: max(f.at, since.ideal)}
	f.n += f.sched.parts
	f.at = f.arrivals.dueTimes.Due(f.n)
	return c
}

func (f *arrivalFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.arrivals.render(f.sched.x, b, c.hit.number)
}

func (f *arrivalFeed) ended(c *connSlot, _ result) { f.places.put(c) }

func (f *arrivalFeed) dropped(c *connSlot) {
	f.places.put(c)
	if c.hit.sent >= f.sched.x.windowEnd()+grace {
		f.stop() // none that is left can be sent
	}
}

func (f *arrivalFeed) stop() { f.at = never }
