package attack

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// goroutineDriver drives each connection from a goroutine. One more waits for
// what is due: timers of the runtime, one for each user, would be up to a
// millisecond late.
//
// All of them use the scheduler, under the lock. A goroutine whose request has
// ended sends what is due by then itself: usually that is the next request of its
// own connection, which so wakes no other goroutine.
type goroutineDriver struct {
	sched *scheduler
	timer pace.Timer
	conns []*goroutineConn
	users sync.WaitGroup // the goroutines of connections
	// ready is what vegeta's workers take connections from; nil: each connection
	// has a goroutine.
	ready chan *goroutineConn

	mu     sync.Mutex // of the scheduler; not held while it waits
	freed  *sync.Cond // ends a wait without an end
	wakeAt time.Duration
	dials  int // connections that are being opened
}

var _ driver = (*goroutineDriver)(nil)

type goroutineConn struct {
	connSlot
	conn    transport.Conn
	buffer  source.Buffer
	ready   chan *goroutineConn // receives itself when there is a request to send
	opening bool
}

// awake is when the scheduler is to be woken that does not wait.
const awake = time.Duration(math.MinInt64)

func newGoroutineDriver(s *scheduler) *goroutineDriver {
	d := &goroutineDriver{sched: s, timer: pace.NewTimer(), wakeAt: awake}
	d.freed = sync.NewCond(&d.mu)
	return d
}

func (d *goroutineDriver) drive() {
	defer d.timer.Close()
	defer context.AfterFunc(d.sched.run.ctx, d.stopWaiting)()
	d.mu.Lock()
	d.sched.send()
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
				_, _ = d.exchange(c) // it is recorded
			}
		})
	}
	return &c.connSlot
}

func (d *goroutineDriver) send(s *connSlot) {
	c := d.conns[s.index]
	if c.opening = !c.conn.IsOpen(); c.opening {
		d.dials++
	}
	c.ready <- c // there is room for each connection
}

// exchange sends the request of a connection and waits for its response.
func (d *goroutineDriver) exchange(c *goroutineConn) (status int, err error) {
	if !d.sched.begin(&c.connSlot, &c.buffer) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.opened(c)
		d.sched.dropped(&c.connSlot)
		d.proceed()
		return 0, errClosed
	}
	response, err := d.do(c)
	res := d.sched.end(&c.connSlot, response, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sched.ended(&c.connSlot, res)
	d.proceed()
	return response.Status, err
}

// do opens the connection first if it is not open: how many are opened at once
// is bounded, how many requests are in flight is not.
func (d *goroutineDriver) do(c *goroutineConn) (transport.Response, error) {
	x := d.sched.run
	deadline := x.start.Add(c.hit.sent + x.timeout)
	if c.opening {
		err := c.conn.Open(x.ctx, deadline)
		d.mu.Lock()
		d.opened(c)
		d.proceed()
		d.mu.Unlock()
		if err != nil {
			return transport.Response{}, err
		}
	}
	return c.conn.Do(x.ctx, &c.buffer.Request, deadline)
}

// opened counts a connection that was opened, or could not be.
func (d *goroutineDriver) opened(c *goroutineConn) {
	if c.opening {
		c.opening = false
		d.dials--
	}
}

// proceed sends what has become possible, and wakes the scheduler if it waits for
// longer than it now should. vegeta's workers do not send by themselves.
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
		d.sleep(until - d.sched.run.elapsed())
	}
	d.wakeAt = awake
}

// sleep sleeps with the lock released: what has ended meanwhile goes on in any
// case.
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
	switch now := d.sched.run.elapsed(); {
	case at >= d.wakeAt:
		return
	case d.wakeAt == never:
		d.freed.Signal()
	default:
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

func (d *goroutineDriver) opening() int { return d.dials }

func (d *goroutineDriver) interrupt() {
	for _, c := range d.conns {
		c.conn.Interrupt()
	}
}
