package attack

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// MaxDrain bounds how long what is in flight at the end of the window may take.
// It is long enough for the responses of a service that still works, and short
// enough that the next step does not wait for one that hangs. What takes longer
// is unfinished, which counts as failed.
const MaxDrain = 5 * time.Second

// errClosed is a request that was not sent because the window had closed.
var errClosed = errors.New("the window has closed")

// engine sends the load of a step.
type engine interface {
	// drive returns when everything was sent and nothing is in flight.
	drive(x *Execution)
	// due is how many requests the schedule asks for before t. sent is how many
	// were sent, which is the answer for loads without a schedule.
	due(t time.Duration, sent int64) int64
}

// Execution is a step that runs, or has run.
type Execution struct {
	step    StepShare
	start   time.Time // of the window, after the warm-up
	timeout time.Duration
	runner  *Runner
	source  *source.Source
	rec     *recorder
	engine  engine
	dialed  dialed // before this step

	health vitals

	ctx    context.Context // of dialling; ends with interrupt
	cancel context.CancelFunc
	halt   chan struct{} // closed by Cut
	done   chan struct{}

	end   atomic.Int64 // when the window closes
	began atomic.Int64 // how long after its start sending began, plus one; 0: not yet
	// stopped says that what is in flight was interrupted: nothing more is sent.
	stopped atomic.Bool
	looped  atomic.Bool // whether event loops drive it

	mu          sync.Mutex
	clients     []*client
	interrupted bool
	cut         bool
}

func (x *Execution) elapsed() time.Duration { return time.Since(x.start) }

func (x *Execution) closes() time.Duration { return time.Duration(x.end.Load()) }

// live is the life of a run.
func (x *Execution) live() {
	defer close(x.done)
	window := time.AfterFunc(time.Until(x.start), func() { x.health.begin(x.runner.probe) })
	defer window.Stop()
	limit := x.step.Load.length()
	_, burst := x.step.Load.(Burst)
	drain := min(x.timeout, MaxDrain)
	if burst {
		drain = 0 // its limit is not a window but the end
	}
	deadline := time.AfterFunc(time.Until(x.start.Add(limit+drain)), x.interrupt)
	defer deadline.Stop()
	x.engine.drive(x)
	if !burst {
		x.rest(x.closes() - x.elapsed())
	}
	x.health.end(x.runner.probe)
	x.cancel()
	x.runner.finished()
}

// await waits for the start of the step, and says when sending began.
func (x *Execution) await(sleep pace.Sleep) bool {
	if !pace.Wait(x.Start(), x.halt, sleep) {
		return false
	}
	x.began.CompareAndSwap(0, int64(time.Since(x.Start()))+1)
	return true
}

// rest waits, unless the run is cut meanwhile.
func (x *Execution) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.halt:
	}
}

// Done is closed when nothing is sent or in flight any more.
func (x *Execution) Done() <-chan struct{} { return x.done }

// Step is the step that runs.
func (x *Execution) Step() StepShare { return x.step }

// Start is the instant at which it begins, with its warm-up if it has one.
func (x *Execution) Start() time.Time { return x.start.Add(-x.step.WarmUp) }

// Cut ends the run now: nothing more is sent, and what is in flight is
// unfinished.
func (x *Execution) Cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cut {
		return
	}
	x.cut = true
	x.end.Store(int64(max(0, min(x.closes(), x.elapsed()))))
	close(x.halt)
	x.interruptLocked()
}

func (x *Execution) interrupt() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.interruptLocked()
}

// interruptLocked ends what is in flight. Connections come first: the error of
// a dial is a cut only if its connection knows.
func (x *Execution) interruptLocked() {
	x.interrupted = true
	x.stopped.Store(true)
	for _, c := range x.clients {
		c.line.Interrupt()
	}
	x.cancel()
}

// join adds a client to those that are interrupted.
func (x *Execution) join(c *client) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clients = append(x.clients, c)
	if x.interrupted {
		c.line.Interrupt()
	}
}

// Began is when sending began; ok is false before that.
func (x *Execution) Began() (at time.Time, ok bool) {
	if n := x.began.Load(); n > 0 {
		return x.Start().Add(time.Duration(n - 1)), true
	}
	return time.Time{}, false
}

// Snapshot is what was measured so far, but for the times that only the session
// knows: start and clock error.
func (x *Execution) Snapshot() (*measure.Step, error) {
	ended := x.ended()
	s, err := x.rec.collect()
	if err != nil {
		return nil, err
	}
	sent := int64(0)
	for i := range s.Requests {
		sent += s.Requests[i].Sent
	}
	// The time is read after the counts, so that all that was sent is due.
	elapsed := x.elapsed()
	now := max(0, min(elapsed, x.closes()))
	s.Due = sent
	if elapsed >= 0 {
		s.Due = max(sent, x.engine.due(min(now+1, x.closes()), sent))
	}
	if b, ok := x.step.Load.(Burst); ok && ended {
		s.Due = b.Requests * x.step.Share.Count
	}
	s.Unsent = s.Due - sent
	s.Window = x.window(now, ended)
	x.examine(s)
	s.Transport, s.Engine = x.runner.client.Name(), x.driver()
	return s, nil
}

// driver names what drives the step; it is known once sending has begun.
func (x *Execution) driver() string {
	switch {
	case x.looped.Load():
		return "event loops"
	case x.began.Load() > 0:
		return "goroutines"
	default:
		return ""
	}
}

func (x *Execution) ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// window is the time over which rates are counted.
func (x *Execution) window(now time.Duration, ended bool) time.Duration {
	if !ended {
		return now
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.step.Load.(Burst); ok && !x.interrupted {
		return time.Duration(x.rec.last.Load())
	}
	return x.closes()
}
