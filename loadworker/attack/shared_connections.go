package attack

// sharedConnections are a fixed number of connections, each of which carries as many
// requests at a time as the target and the server permit. Hits are spread evenly over them.
//
// A connection that was closed is opened again by the next hit. One that the server takes
// no more requests on, but still answers, is replaced.
type sharedConnections struct {
	driver  *streamDriver
	conns   []*streamConn
	turn    int // the connection that is looked at first, which is the one that vacancy has found
	streams int // limit on each; 0: the server's
	limit   int // of requests in flight
	idle    []*connSlot
}

var _ places = (*sharedConnections)(nil)

func newSharedConnections(d *streamDriver, a *arrivals) *sharedConnections {
	s := d.sched
	p := &sharedConnections{driver: d, streams: a.shared.Streams, limit: int(s.count(int64(a.limit)))}
	for i := s.part; i < int64(len(s.x.conns)); i += s.parts {
		p.conns = append(p.conns, d.connect(s.x.conns[i]))
	}
	d.shared = p
	return p
}

func (p *sharedConnections) vacancy() vacancy {
	switch {
	case p.driver.sched.inFlight >= p.limit:
		return taken
	case p.next() == nil:
		return full
	}
	return vacant
}

// next is the connection for the next hit, nil if none has room.
func (p *sharedConnections) next() *streamConn {
	for i := range p.conns {
		at := (p.turn + i) % len(p.conns)
		if p.hasRoom(p.replaced(at)) {
			p.turn = at
			return p.conns[at]
		}
	}
	return nil
}

func (p *sharedConnections) hasRoom(c *streamConn) bool {
	switch l := &c.inLoop; {
	case l.IsClosed():
		return p.driver.mayOpen()
	case l.IsOpening():
		return false
	default:
		return l.Room() > 0 && (p.streams == 0 || l.InFlight() < p.streams)
	}
}

// replaced returns the connection at an index. One that only ends what is in flight is
// replaced before, by one that did so and is closed if there is one.
func (p *sharedConnections) replaced(at int) *streamConn {
	c := p.conns[at]
	if l := &c.inLoop; l.IsClosed() || l.IsOpening() || l.IsOpen() {
		return c
	}
	p.conns[at] = p.spare()
	return p.conns[at]
}

func (p *sharedConnections) spare() *streamConn {
	used := make(map[*streamConn]bool, len(p.conns))
	for _, c := range p.conns {
		used[c] = true
	}
	for _, c := range p.driver.conns {
		if !used[c] && c.inLoop.IsClosed() {
			return c
		}
	}
	return p.driver.connect(p.driver.sched.x.another())
}

// take takes the connection that vacancy has found. Another look might find none: attempts to open a connection go on in
// goroutines of their own, and as many may be under way by now as may be.
func (p *sharedConnections) take() *connSlot {
	c := p.conns[p.turn]
	p.turn = (p.turn + 1) % len(p.conns)
	slot := p.slot()
	p.driver.slots[slot.index].on = c
	slot.socket = &c.inLoop
	return slot
}

// slot returns one that no request goes through.
func (p *sharedConnections) slot() *connSlot {
	if len(p.idle) > 0 {
		return pop(&p.idle)
	}
	return &p.driver.addSlot().connSlot
}

func (p *sharedConnections) put(c *connSlot) { p.idle = append(p.idle, c) }
