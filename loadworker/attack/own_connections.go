package attack

import "github.com/loadtest-dev/loadtest-operator/loadworker/transport"

// ownConnections are connections that carry one request each at a time. A hit that
// finds none idle opens one, up to a limit of all connections and one of those whose
// opening takes processor time.
//
// The second limit keeps a worker that falls behind for a moment from overloading itself
// by dialling: each late hit would find all connections busy and open one, which costs more
// than ten requests, so that it would fall further behind. A connection that waits for the
// target, to accept it or to shake hands, is not counted: of a target that stands still, as
// many hits are sent on time as over connections that are open.
type ownConnections struct {
	sched *scheduler
	limit int // of connections
	added int // connections
	idle  idlePool
}

var _ places = (*ownConnections)(nil)

func newOwnConnections(s *scheduler, a *arrivals) *ownConnections {
	o := &ownConnections{sched: s, limit: int(s.count(int64(a.limit)))}
	for i := s.part; i < int64(len(s.x.conns)); i += s.parts {
		o.idle.put(o.add(s.x.conns[i]))
	}
	return o
}

func (o *ownConnections) add(c transport.Conn) *connSlot {
	o.added++
	return o.sched.add(c)
}

func (o *ownConnections) vacancy() vacancy {
	switch {
	case o.idle.hasOpen():
		return vacant
	case len(o.idle.closed) == 0 && o.added >= o.limit:
		return taken
	case !o.sched.driver.mayOpen():
		return opening
	}
	return vacant
}

func (o *ownConnections) take() *connSlot {
	if c, ok := o.idle.take(); ok {
		return c
	}
	return o.add(o.sched.x.another())
}

func (o *ownConnections) put(c *connSlot) { o.idle.put(c) }
