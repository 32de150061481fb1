package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// arrivalFeed feeds a scheduler with some of a step's arrivals, those whose number
// leaves the same remainder.
//
// They need no queue: those that wait are the next ones of the schedule, in its
// order. One that finds no open connection idle opens one, unless there are as
// many as there may be, or as many being opened; it then waits, which counts into
// its response time.
//
// The bound of those being opened keeps a worker that falls behind for a moment
// from overloading itself by dialling: each late hit would find all connections
// busy and open one, which costs more than ten requests, so that it would fall
// further behind. A target that stalls is not affected, since opening is quick
// then.
type arrivalFeed struct {
	arrivals *arrivals
	sched    *scheduler
	conns    []transport.Conn // to begin with
	limit    int              // of connections
	opening  int              // limit of those that are being opened
	added    int              // connections
	idle     idlePool

	n, stride int64         // the next hit, and from one to the next
	at        time.Duration // when hit n is due
}

var _ feed = (*arrivalFeed)(nil)

// feed returns the i-th of n feeds, which share the connections.
func (a *arrivals) feed(s *scheduler, i, n int64) feed {
	f := &arrivalFeed{arrivals: a, sched: s, n: i, stride: n}
	f.limit, f.opening = int((int64(a.limit)-i+n-1)/n), max(1, openAtOnce/int(n))
	for j := i; j < int64(len(s.run.conns)); j += n {
		f.conns = append(f.conns, s.run.conns[j])
	}
	return f
}

func (f *arrivalFeed) fill() {
	for _, c := range f.conns {
		f.idle.put(f.add(c))
	}
	f.at = f.arrivals.timetable.Due(f.n)
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
		c = f.add(f.sched.run.another())
	}
	c.hit = hit{number: f.n, due: f.at}
	f.n += f.stride
	f.at = f.arrivals.timetable.Due(f.n)
	return c
}

func (f *arrivalFeed) render(c *connSlot, b *source.Buffer) {
	c.hit.request = f.arrivals.render(f.sched.run, b, c.hit.number)
}

func (f *arrivalFeed) ended(c *connSlot, _ result) { f.idle.put(c) }

func (f *arrivalFeed) dropped(c *connSlot) {
	f.idle.put(c)
	if c.hit.sent >= f.sched.run.windowEnd()+grace {
		f.stop() // none that is left can be sent
	}
}

func (f *arrivalFeed) stop() { f.at = never }

// idlePool is the connections that carry no request.
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

// hasOpen says whether there is an open one, which take then takes. It puts those
// that were closed meanwhile where they belong.
func (p *idlePool) hasOpen() bool {
	for n := len(p.open) - 1; n >= 0; n-- {
		if p.open[n].socket.IsOpen() {
			return true
		}
		p.closed = append(p.closed, pop(&p.open))
	}
	return false
}

// take takes an open one if there is, else one that is closed; ok is false if
// there is neither.
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
