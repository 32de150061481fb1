package attack

import (
	"math"
	"time"
)

// hits feeds a loop with some of a step's arrivals, those whose number leaves the
// same remainder.
//
// They need no queue: those that wait are the next ones of the schedule, in its
// order. One that finds no open connection free opens one, unless there are as
// many as there may be, or as many being opened; it then waits, which counts into
// its response time.
type hits struct {
	*arrivals
	loop    *loop
	clients []*client // to begin with
	limit   int       // of connections
	opening int       // limit of those that are being opened
	stock   stock[*slot]

	n, stride int64         // the next hit, and from one to the next
	at        time.Duration // when hit n is due
}

var _ feed = (*hits)(nil)

// never is when nothing is due.
const never = time.Duration(math.MaxInt64)

// loops drives the arrivals on loops, which share the connections.
func (a *arrivals) loops(x *Execution, limit int) error {
	clients := x.clients[:min(len(x.clients), limit)]
	return x.loops(int64(limit), func(l *loop, i, n int64) feed {
		f := &hits{arrivals: a, loop: l, n: i, stride: n}
		f.limit, f.opening = (limit-int(i)+int(n)-1)/int(n), max(1, openAtOnce/int(n))
		for j := int(i); j < len(clients); j += int(n) {
			f.clients = append(f.clients, clients[j])
		}
		return f
	})
}

func (f *hits) fill() {
	for _, c := range f.clients {
		f.stock.put(f.loop.add(c))
	}
	f.at = f.schedule.Due(f.n)
}

func (f *hits) next() (time.Duration, bool) {
	return f.at, f.at < f.duration && (f.stock.warm() || f.mayOpen())
}

func (f *hits) mayOpen() bool {
	return f.loop.net.Dialing() < f.opening && (len(f.stock.cold) > 0 || len(f.loop.slots) < f.limit)
}

func (f *hits) take() *slot {
	s, ok := f.stock.take()
	if !ok {
		s = f.loop.add(f.loop.run.another())
	}
	s.hit = f.prepare(f.loop.run, &f.loop.buffer, f.n)
	s.hit.due = f.at
	f.n += f.stride
	f.at = f.schedule.Due(f.n)
	return s
}

func (f *hits) ended(s *slot, _ result) { f.stock.put(s) }

func (f *hits) dropped(s *slot) {
	f.stock.put(s)
	if s.hit.sent >= f.loop.run.closes()+grace {
		f.stop() // none that is left can be sent
	}
}

func (f *hits) stop() { f.at = never }
