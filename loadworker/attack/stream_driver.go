package attack

import (
	"context"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
)

// streamDriver is a loopDriver for HTTP/2: users have a connection each, arrivals share
// some.
type streamDriver struct {
	sched  *scheduler
	loop   *http2.Loop
	conns  []*streamConn
	slots  []*streamSlot      // by the tag of stream
	buffer source.Buffer      // of the request that is sent next
	shared *sharedConnections // nil: each user, or session, has its own
}

var _ driver = (*streamDriver)(nil)

// streamConn is a connection of a streamDriver.
type streamConn struct {
	inLoop http2.LoopConn
	conn   *http2.Conn // has the socket before and after the step
}

// streamSlot is what a request goes through: a connection's own stream for users, and one of
// any connection for arrivals.
type streamSlot struct {
	connSlot
	stream http2.LoopStream
	on     *streamConn
}

// newStreamDriver fails where the system allows no event loop.
func newStreamDriver(s *scheduler, client *http2.Client) (d *streamDriver, err error) {
	d = &streamDriver{sched: s}
	if d.loop, err = client.NewLoop(s.x.start, d.done); err == nil {
		d.loop.Openings = s.openings(d.loop.Wake)
		if clock := s.x.runner.config.Clock; clock != nil {
			d.loop.Clock = clock()
		}
	}
	return d, err
}

func (d *streamDriver) drive() {
	defer context.AfterFunc(d.sched.x.ctx, d.loop.Wake)()
	d.sched.run()
	for _, c := range d.conns {
		d.loop.Return(&c.inLoop, c.conn)
	}
	d.loop.Close()
}

// add adds the connection of a user.
func (d *streamDriver) add(conn transport.Conn) *connSlot {
	s := d.addSlot()
	s.on = d.connect(conn)
	s.socket = &s.on.inLoop
	return &s.connSlot
}

// connect adds a connection.
func (d *streamDriver) connect(conn transport.Conn) *streamConn {
	c := &streamConn{conn: conn.(*http2.Conn)}
	c.conn.Resume()
	d.conns = append(d.conns, c)
	d.loop.Add(&c.inLoop, c.conn)
	return c
}

func (d *streamDriver) addSlot() *streamSlot {
	s := &streamSlot{connSlot: connSlot{index: len(d.slots), shard: int(d.sched.part)}}
	s.stream.Tag = s.index
	d.slots = append(d.slots, s)
	return s
}

func (d *streamDriver) send(c *connSlot) {
	if !d.sched.begin(c, &d.buffer) {
		d.sched.dropped(c)
		return
	}
	if err := d.buffer.Request.Err; err != nil {
		d.sched.ended(c, d.sched.end(c, transport.Response{}, err))
		return
	}
	x, s := d.sched.x, d.slots[c.index]
	d.loop.Send(x.ctx, &s.stream, &s.on.inLoop, &d.buffer.Request, c.hit.sent+x.timeout(&c.hit))
}

// carrier is the connection for what follows a redirect: the same, unless it takes no more requests
// and others are shared.
func (d *streamDriver) carrier(s *streamSlot) *streamConn {
	if l := &s.on.inLoop; l.IsOpen() || l.IsClosed() {
		return s.on
	}
	if p := d.shared; p != nil {
		other := p.next()
		if other == nil { // it cannot wait for room, as a hit does that was not sent
			other = p.spare()
		}
		s.on, s.socket = other, &other.inLoop
	}
	return s.on
}

// done follows a redirect, or counts the outcome of a request and sends another one, which may have
// waited.
func (d *streamDriver) done(l *http2.LoopStream, r transport.Response, err error) {
	s := d.slots[l.Tag]
	c := &s.connSlot
	more, err := d.sched.follow(c, &d.buffer, &r, err)
	if more {
		d.loop.Send(d.sched.x.ctx, l, &d.carrier(s).inLoop, &d.buffer.Request, c.hit.sent+d.sched.x.timeout(&c.hit))
		return
	}
	res := d.sched.end(c, r, err)
	d.sched.ended(c, res)
	d.sched.sendAfter(res.received + res.lingered)
}

func (d *streamDriver) wait(until time.Duration) { d.loop.Wait(boundedWait(d.sched.x, until)) }

func (d *streamDriver) mayOpen() bool { return !d.loop.Openings.Full() }

func (d *streamDriver) interrupt() { d.loop.Interrupt() }

func (d *streamDriver) close() { d.loop.Close() }
