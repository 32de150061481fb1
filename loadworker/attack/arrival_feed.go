package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// arrivalFeed feeds a scheduler with its part of a step's arrivals: the numbers of
// hits divided by that of parts leave the same remainder.
//
// Hits need no queue: those that wait are the next ones of the schedule, in its
// order. A hit that finds no open connection idle opens one, up to a limit of all
// connections and one of those that are being opened. Beyond that it waits, which
// counts into its response time.
//
// The limit of those being opened keeps a worker that falls behind for a moment
// from overloading itself by dialling: each late hit would find all connections
// busy and open one, which costs more than ten requests, so that it would fall
// further behind. A target that stalls is not affected, since opening is quick
// then.
type arrivalFeed struct {
	arrivals *arrivals
	sched    *scheduler
	limit    int // of connections
	opening  int // limit of those that are being opened
	added    int // connections
	idle     idlePool

	n  int64         // the next hit
	at time.Duration // its due time
}

var _ feed = (*arrivalFeed)(nil)

// feed returns the scheduler's feed. All parts share the connections.
func (a *arrivals) feed(s *scheduler) feed {
	f := &arrivalFeed{arrivals: a, sched: s, n: s.part, at: a.dueTimes.Due(s.part)}
	f.limit, f.opening = int(s.count(int64(a.limit))), max(1, openAtOnce/int(s.parts))
	for i := s.part; i < int64(len(s.x.conns)); i += s.parts {
		f.idle.put(f.add(s.x.conns[i]))
	}
	return f
}

func (f *arrivalFeed) add(c transport.Conn) *connSlot {
	f.added++
	return f.sched.add(c)
}

func (f *arrivalFeed) next() (time.Duration, bool) {
	return f.at, f.at < f.arrivals.duration && (f.idle.hasOpen() || f.mayOpen())
}

func (f *arrivalFeed) mayOpen() bool {
	return f.sched.driver.opening() < f.opening && (len(f.idle.closed) > 0 || f.added < f.limit)
}

func (f *arrivalFeed) take() *connSlot {
	c, ok := f.idle.take()
	if !ok {
		c = f.add(f.sched.x.another())
	}
	c.hit = hit{number: f.n, due: f.at}
	f.n += f.sched.parts
	f.at = f.arrivals.dueTimes.Due(f.n)
	return c
}

func (f *arrivalFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.arrivals.render(f.sched.x, b, c.hit.number)
}

func (f *arrivalFeed) ended(c *connSlot, _ result) { f.idle.put(c) }

func (f *arrivalFeed) dropped(c *connSlot) {
	f.idle.put(c)
	if c.hit.sent >= f.sched.x.windowEnd()+grace {
		f.stop() // none that is left can be sent
	}
}

func (f *arrivalFeed) stop() { f.at = never }

// idlePool holds the connections that carry no request.
type idlePool struct {
	open   []*connSlot // the last used is used first, so that few are used
	closed []*connSlot
}

func (p *idlePool) put(c *connSlot) {
	if c.socket.IsOpen() {
		p.open = append(p.open, c)
	} else {
		p.closed = append(p.closed, c)
	}
}

// hasOpen reports whether there is an open connection, which take then takes. It
// moves those that were closed meanwhile.
func (p *idlePool) hasOpen() bool {
	for n := len(p.open) - 1; n >= 0; n-- {
		if p.open[n].socket.IsOpen() {
			return true
		}
		p.closed = append(p.closed, pop(&p.open))
	}
	return false
}

// take takes an open connection if there is one, else one that is closed; ok is
// false if there is neither.
func (p *idlePool) take() (c *connSlot, ok bool) {
	switch {
	case p.hasOpen():
		return pop(&p.open), true
	case len(p.closed) > 0:
		return pop(&p.closed), true
	default:
		return nil, false
	}
}

func pop[T any](list *[]T) T {
	last := len(*list) - 1
	v := (*list)[last]
	*list = (*list)[:last]
	return v
}
