package attack

import (
	"context"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
)

// loopDriver drives connections from an event loop. A request in flight is then
// a value, not a goroutine: it takes a twentieth of the memory. It takes a quarter
// less processor time, too, since each wait in the runtime's poller costs a read
// that finds nothing.
type loopDriver struct {
	sched  *scheduler
	loop   *http1.Loop
	conns  []*loopConn   // by the tag of inLoop
	buffer source.Buffer // of the request that is sent next
}

var _ driver = (*loopDriver)(nil)

type loopConn struct {
	connSlot
	inLoop http1.LoopConn
	conn   *http1.Conn // has the socket before and after the step
}

// newLoopDriver fails where the system allows no event loop.
func newLoopDriver(s *scheduler, client *http1.Client) (d *loopDriver, err error) {
	d = &loopDriver{sched: s}
	if d.loop, err = client.NewLoop(s.x.start, d.done); err == nil {
		d.loop.Openings = s.openings(d.loop.Wake)
		if clock := s.x.runner.config.Clock; clock != nil {
			d.loop.Clock = clock()
		}
	}
	return d, err
}

func (d *loopDriver) drive() {
	defer context.AfterFunc(d.sched.x.ctx, d.loop.Wake)()
	d.sched.run()
	for _, c := range d.conns {
		d.loop.Return(&c.inLoop, c.conn)
	}
	d.loop.Close()
}

func (d *loopDriver) add(conn transport.Conn) *connSlot {
	c := &loopConn{conn: conn.(*http1.Conn)}
	c.connSlot = connSlot{socket: &c.inLoop, index: len(d.conns), shard: int(d.sched.part)}
	c.inLoop.Tag = c.index
	d.conns = append(d.conns, c)
	d.loop.Add(&c.inLoop, c.conn)
	return &c.connSlot
}

func (d *loopDriver) send(c *connSlot) {
	if !d.sched.begin(c, &d.buffer) {
		d.sched.dropped(c)
		return
	}
	x := d.sched.x
	d.loop.Send(x.ctx, &d.conns[c.index].inLoop, &d.buffer.Request, c.hit.sent+x.timeout(&c.hit))
}

// done follows a redirect, or counts the outcome of a request and sends another one, which may have
// waited for the connection.
func (d *loopDriver) done(l *http1.LoopConn, r transport.Response, err error) {
	c := &d.conns[l.Tag].connSlot
	more, err := d.sched.follow(c, &d.buffer, &r, err)
	if more {
		d.loop.Send(d.sched.x.ctx, l, &d.buffer.Request, c.hit.sent+d.sched.x.timeout(&c.hit))
		return
	}
	res := d.sched.end(c, r, err)
	d.sched.ended(c, res)
	d.sched.sendAfter(res.received + res.lingered)
}

const (
	// minWait bounds the wake-ups of a loop, at the price of as much lateness.
	minWait = 50 * time.Microsecond
	// longWait is the wait while nothing is due: an event ends it.
	longWait = time.Minute
)

func (d *loopDriver) wait(until time.Duration) { d.loop.Wait(boundedWait(d.sched.x, until)) }

// boundedWait is the end of a wait until an instant.
func boundedWait(x *Execution, until time.Duration) time.Duration {
	if now := x.elapsed(); until > now {
		return min(max(until, now+minWait), now+longWait)
	}
	return until
}

func (d *loopDriver) mayOpen() bool { return !d.loop.Openings.Full() }

func (d *loopDriver) interrupt() { d.loop.Interrupt() }

func (d *loopDriver) close() { d.loop.Close() }
