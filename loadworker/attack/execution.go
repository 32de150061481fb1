package attack

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// expirySlack is how much later than a timeout it is noticed for sure, if the worker runs.
const expirySlack = 100 * time.Millisecond

// schedule is the load of a worker's share of a step.
type schedule interface {
	// tallyDue adds the requests that are due in the window before t. Loads whose
	// due times depend on the responses add none.
	tallyDue(t time.Duration, to *source.Tally)
	// connections is the number to open before the step.
	connections() int
	// maxParts is the largest number of parts, and feed is that of one of them.
	maxParts() int64
	feed(s *scheduler) feed
}

// Execution is the execution of a step, under way or over.
type Execution struct {
	step     StepShare
	start    time.Time       // of the window, after the warm-up
	timeouts []time.Duration // by request
	runner   *Runner
	source   *source.Source
	rec      *recorder
	schedule schedule
	conns    []transport.Conn // that were opened before the step
	used     int              // connections of the runner; under its lock
	dialed   dialCounts       // before this step
	opened   atomic.Int64     // connections before the window; negative: it has not begun
	shaken   handshakes
	backlogs backlogs
	health   healthWindow
	stood    func(now time.Duration) time.Duration // for how long the process had stood still until then
	watched  time.Duration                         // that is watched, before the window begins
	feeds    []*userFeed                           // of a step that has ended, if the mix has journeys
	// unsentByGenerator is how many requests of users with a schedule, or of a burst, a
	// perfect generator would have sent: of a step that has ended.
	unsentByGenerator int64
	timelined         sync.Once
	line              measure.Timeline

	ctx    context.Context // ends when requests in flight are interrupted
	cancel context.CancelFunc
	done   chan struct{}

	end    atomic.Int64           // of the window
	began  atomic.Int64           // from the start to when sending began, plus one; 0: not yet
	engine atomic.Pointer[string] // the kind of driver; nil: not yet known
	cut    atomic.Bool
	// stopped is set when requests in flight were interrupted: no more are sent.
	stopped atomic.Bool
}

// timeout is that of the request of a hit.
func (x *Execution) timeout(h *hit) time.Duration { return x.timeouts[h.request] }

func (x *Execution) elapsed() time.Duration { return time.Since(x.start) }

// stoodStill is for how long the process had stood still at an instant that has just been read.
func (x *Execution) stoodStill(now time.Duration) time.Duration {
	return x.health.stalls.Until(x.watched + now)
}

func (x *Execution) windowEnd() time.Duration { return time.Duration(x.end.Load()) }

// execute runs the step from before its start to its end; drive sends its load.
func (x *Execution) execute(drive func()) {
	defer close(x.done)
	watched, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	x.watched = x.start.Sub(x.health.stalls.Watch(watched))
	if wait := time.Until(x.start); wait > 0 {
		window := time.AfterFunc(wait, x.beginWindow)
		defer window.Stop()
	} else {
		x.beginWindow() // before the first request may open a connection
	}
	limit := x.step.Load.length()
	_, burst := x.step.Load.(Burst)
	// What is sent last may be sent late, and its timeout noticed late.
	drain := measure.Drain(x.runner.config.longest()) + grace + expirySlack
	if burst {
		drain = 0 // its limit is not a window but the end
	}
	deadline := time.AfterFunc(time.Until(x.start.Add(limit+drain)), x.interrupt)
	defer deadline.Stop()
	x.connect()
	drive()
	if a := x.arrivals(); a != nil && a.log != nil {
		a.log.close()
	}
	if !burst {
		x.awaitWindowEnd()
	}
	x.health.end(x.runner.probe)
	x.cancel()
	x.shaken.take(x.runner.client)
	x.runner.finished()
}

// connect opens the connections until shortly before the start.
func (x *Execution) connect() {
	ctx, cancel := context.WithDeadline(x.ctx, x.Start().Add(-openUntil))
	defer cancel()
	x.runner.open(ctx, x.conns)
}

// drive sends the load: by vegeta where the client is its own, from event loops where
// the client allows them, else from goroutines.
func (x *Execution) drive() {
	schedulers, engine := x.onVegeta(), "vegeta"
	if schedulers == nil {
		schedulers, engine = x.onLoops(), "event loops"
	}
	if schedulers == nil {
		schedulers, engine = x.onGoroutines(), "goroutines"
	}
	x.engine.Store(&engine)
	x.run(schedulers)
}

// run runs the schedulers until all was sent and nothing is in flight.
func (x *Execution) run(schedulers []*scheduler) {
	var group sync.WaitGroup
	for _, s := range schedulers {
		group.Go(s.driver.drive)
	}
	group.Wait()
	x.finishFeeds(schedulers)
}

// schedulers divides the schedule into at most so many parts.
func (x *Execution) schedulers(most int) []*scheduler {
	all := make([]*scheduler, max(1, min(int64(most), x.schedule.maxParts())))
	for i := range all {
		all[i] = &scheduler{x: x, part: int64(i), parts: int64(len(all))}
	}
	return all
}

// onLoops returns a scheduler with an event loop for each processor, nil if the
// client or the system allows no loops.
func (x *Execution) onLoops() []*scheduler {
	all := x.schedulers(processors())
	for i, s := range all {
		d, err := newLoop(s, x.runner.client)
		if err != nil {
			for _, made := range all[:i] {
				made.driver.(closer).close()
			}
			return nil
		}
		s.driver = d
	}
	return all
}

// closer is a driver that may be closed before it drives.
type closer interface{ close() }

// newLoop returns a driver with an event loop.
func newLoop(s *scheduler, client transport.Client) (driver, error) {
	switch client := client.(type) {
	case *http1.Client:
		return newLoopDriver(s, client)
	case *http2.Client:
		return newStreamDriver(s, client)
	}
	return nil, errors.ErrUnsupported
}

// onVegeta returns a scheduler for arrivals through net/http's pool of connections, nil
// if they go another way.
func (x *Execution) onVegeta() []*scheduler {
	pool, ok := x.runner.client.(*nethttp.Pool)
	a, rate := x.schedule.(*arrivals)
	if !ok || !rate {
		return nil
	}
	s := x.schedulers(1)[0]
	s.driver = newAttackerDriver(s, a, pool)
	return []*scheduler{s}
}

// onGoroutines returns schedulers whose drivers use goroutines. For arrivals there
// is one, with vegeta's Attacker.
func (x *Execution) onGoroutines() []*scheduler {
	if a, ok := x.schedule.(*arrivals); ok {
		s := x.schedulers(1)[0]
		s.driver = newVegetaDriver(s, a)
		return []*scheduler{s}
	}
	all := x.schedulers(processors())
	for _, s := range all {
		s.driver = newGoroutineDriver(s)
	}
	return all
}

// another returns one more connection, which the runner keeps.
func (x *Execution) another() transport.Conn {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	x.used++
	return x.runner.ensure(x.used)[x.used-1]
}

// begin notes that sending begins now; it returns false if the step was cut.
func (x *Execution) begin() bool {
	if x.cut.Load() {
		return false
	}
	x.began.CompareAndSwap(0, int64(time.Since(x.Start()))+1)
	return true
}

// awaitWindowEnd waits until the window closes, unless the step is cut before.
func (x *Execution) awaitWindowEnd() {
	left := x.windowEnd() - x.elapsed()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.ctx.Done():
	}
}

// Done is closed when nothing is sent or in flight any more.
func (x *Execution) Done() <-chan struct{} { return x.done }

// Step is the step that runs.
func (x *Execution) Step() StepShare { return x.step }

// Start is the instant at which it begins, with its warm-up if it has one.
func (x *Execution) Start() time.Time { return x.start.Add(-x.step.WarmUp) }

// Cut ends the step now: no more requests are sent, and those in flight are
// unfinished.
func (x *Execution) Cut() {
	if x.cut.Swap(true) {
		return
	}
	x.end.Store(int64(max(0, min(x.windowEnd(), x.elapsed()))))
	x.interrupt()
}

// interrupt ends the requests in flight.
func (x *Execution) interrupt() {
	x.stopped.Store(true)
	x.cancel()
}

// Began is the instant at which sending began; ok is false before that.
func (x *Execution) Began() (at time.Time, ok bool) {
	if n := x.began.Load(); n > 0 {
		return x.Start().Add(time.Duration(n - 1)), true
	}
	return time.Time{}, false
}
