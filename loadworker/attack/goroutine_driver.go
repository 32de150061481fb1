package attack

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/timer"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// goroutineDriver drives each connection from a goroutine. One more runs the
// scheduler and waits for due times: timers of the runtime, one for each user,
// would be up to a millisecond late.
//
// All of them use the scheduler, under the lock. A goroutine whose request has
// ended also sends those that have become due. Usually that is the next request of
// its own connection, and no other goroutine has to be woken.
type goroutineDriver struct {
	sched *scheduler
	timer timer.Timer
	conns []*goroutineConn
	// openings count the connections that are being opened.
	openings *dial.Openings
	users    sync.WaitGroup // the goroutines of connections
	// ready has the connections with a request to send, for vegeta's workers. It is
	// nil if each connection has a goroutine, and a channel, of its own.
	ready chan *goroutineConn

	mu     sync.Mutex    // of the scheduler; not held while it waits
	freed  *sync.Cond    // ends a wait that has no end
	wakeAt time.Duration // the end of the wait
}

var _ driver = (*goroutineDriver)(nil)

type goroutineConn struct {
	connSlot
	conn    transport.Conn
	buffer  source.Buffer
	ready   chan *goroutineConn // receives it when it has a request to send
	opening *dial.Opening       // nil: it is not being opened
	dialing context.Context     // of opening
}

// awake is wakeAt while the scheduler does not wait.
const awake = time.Duration(math.MinInt64)

func newGoroutineDriver(s *scheduler) *goroutineDriver {
	d := &goroutineDriver{sched: s, timer: s.x.runner.config.Timer(), wakeAt: awake}
	d.freed = sync.NewCond(&d.mu)
	d.openings = s.openings(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.proceed()
	})
	return d
}

func (d *goroutineDriver) drive() {
	defer d.timer.Close()
	defer context.AfterFunc(d.sched.x.ctx, d.stopWaiting)()
	d.mu.Lock()
	d.sched.run()
	d.mu.Unlock()
	for _, c := range d.conns {
		close(c.ready)
	}
	d.users.Wait()
}

func (d *goroutineDriver) add(conn transport.Conn) *connSlot {
	c := &goroutineConn{conn: conn, ready: d.ready}
	c.connSlot = connSlot{socket: conn, index: len(d.conns), shard: len(d.conns)}
	d.conns = append(d.conns, c)
	if c.ready == nil {
		c.ready = make(chan *goroutineConn, 1)
		d.users.Go(func() {
			for range c.ready {
				_, _ = d.exchange(c) // the outcome was recorded
			}
		})
	}
	return &c.connSlot
}

func (d *goroutineDriver) send(s *connSlot) {
	c := d.conns[s.index]
	if !c.conn.IsOpen() {
		c.dialing, c.opening = d.openings.Begin(d.sched.x.ctx)
	}
	c.ready <- c // never blocks: there is room for each connection
}

// exchange sends the request of a connection and waits for its response.
func (d *goroutineDriver) exchange(c *goroutineConn) (status int, err error) {
	if !d.sched.begin(&c.connSlot, &c.buffer) {
		d.drop(c)
		return 0, errClosed
	}
	response, err := d.do(c)
	d.finish(c, response, err)
	return response.Status, err
}

// drop frees a connection whose request was not sent.
func (d *goroutineDriver) drop(c *goroutineConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened(c)
	d.sched.dropped(&c.connSlot)
	d.proceed()
}

// finish counts the outcome of a request and frees its connection.
func (d *goroutineDriver) finish(c *goroutineConn, response transport.Response, err error) {
	res := d.sched.end(&c.connSlot, response, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sched.ended(&c.connSlot, res)
	d.proceed()
}

// do opens the connection first if it is closed: the feed of arrivals bounds the
// number of connections that are being opened.
func (d *goroutineDriver) do(c *goroutineConn) (transport.Response, error) {
	x := d.sched.x
	deadline := x.start.Add(c.hit.sent + x.timeout(&c.hit))
	if c.opening != nil {
		if routed, ok := c.conn.(*transport.RoutedConn); ok { // it was not rendered when it had to be opened
			routed.SelectFor(&c.buffer.Request)
		}
		err := c.conn.Open(c.dialing, deadline)
		d.mu.Lock()
		d.opened(c)
		d.proceed()
		d.mu.Unlock()
		if err != nil {
			return transport.Response{}, err
		}
	}
	for {
		r, err := c.conn.Do(x.ctx, &c.buffer.Request, deadline)
		if more, err := d.sched.follow(&c.connSlot, &c.buffer, &r, err); !more {
			return r, err
		}
	}
}

// opened counts the end of an attempt to open a connection.
func (d *goroutineDriver) opened(c *goroutineConn) {
	c.opening.End()
	c.opening, c.dialing = nil, nil
}

// proceed sends requests that had to wait, and shortens the wait of the scheduler
// if it is too long now. vegeta's workers do not send by themselves: its dispatcher
// does.
func (d *goroutineDriver) proceed() {
	if d.ready == nil {
		d.sched.sendBatch()
	}
	due, ok := d.sched.next()
	if !ok {
		due = awake // it is over
	}
	d.wake(due)
}

// minSleep bounds the wake-ups of the scheduler to 10,000 a second, at the price
// of as much lateness: a wake-up costs some 30 us of processor time.
const minSleep = 100 * time.Microsecond

func (d *goroutineDriver) wait(until time.Duration) {
	d.wakeAt = until
	if until == never {
		d.freed.Wait()
	} else {
		d.sleep(until - d.sched.x.elapsed())
	}
	d.wakeAt = awake
}

// sleep sleeps with the lock released. It releases the lock even if there is no
// time left, for the goroutines that wait for it.
func (d *goroutineDriver) sleep(left time.Duration) {
	if left > 0 {
		d.timer.Set(max(left, minSleep))
	}
	d.mu.Unlock()
	if left > 0 {
		d.timer.Wait()
	}
	d.mu.Lock()
}

// wake lets a wait end at an instant, if it would end later.
func (d *goroutineDriver) wake(at time.Duration) {
	if at >= d.wakeAt {
		return
	}
	if d.wakeAt == never {
		d.freed.Signal()
	} else {
		now := d.sched.x.elapsed()
		d.timer.Set(max(at, now) - now)
	}
	d.wakeAt = at
}

// stopWaiting ends the wait.
func (d *goroutineDriver) stopWaiting() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake(awake)
}

func (d *goroutineDriver) mayOpen() bool { return !d.openings.Full() }

func (d *goroutineDriver) interrupt() {
	for _, c := range d.conns {
		c.conn.Interrupt()
	}
}
