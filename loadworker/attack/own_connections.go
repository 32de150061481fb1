package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// ownConnections are connections that carry one request each at a time. A hit that
// finds none idle opens one, up to a limit of all connections and one of those that are
// being opened.
//
// The limit of those being opened keeps a worker that falls behind for a moment
// from overloading itself by dialling: each late hit would find all connections
// busy and open one, which costs more than ten requests, so that it would fall
// further behind. A target that stalls is not affected without TLS, since its kernel
// opens connections meanwhile. Over TLS it is: hits wait for the handshakes of others, as if
// the worker were late.
type ownConnections struct {
	sched   *scheduler
	limit   int // of connections
	opening int // limit of those that are being opened
	added   int // connections
	idle    idlePool
}

var _ places = (*ownConnections)(nil)

func newOwnConnections(s *scheduler, a *arrivals) *ownConnections {
	o := &ownConnections{sched: s, limit: int(s.count(int64(a.limit))), opening: max(1, openAtOnce/int(s.parts))}
	for i := s.part; i < int64(len(s.x.conns)); i += s.parts {
		o.idle.put(o.add(s.x.conns[i]))
	}
	return o
}

func (o *ownConnections) add(c transport.Conn) *connSlot {
	o.added++
	return o.sched.add(c)
}

func (o *ownConnections) free() bool { return o.idle.hasOpen() || o.mayOpen() }

func (o *ownConnections) mayOpen() bool {
	return o.sched.driver.opening() < o.opening && (len(o.idle.closed) > 0 || o.added < o.limit)
}

func (o *ownConnections) take() (*connSlot, time.Duration) {
	c, ok := o.idle.take()
	if !ok {
		c = o.add(o.sched.x.another())
	}
	return c, 0
}

func (o *ownConnections) put(c *connSlot) { o.idle.put(c) }

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
