package attack

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/timer"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Config configures a Runner.
type Config struct {
	Source *source.Source
	Client transport.Client
	// Timeout of a request that has none of its own, from when it is sent.
	Timeout time.Duration
	// Worker is the worker's number.
	Worker int32
	// MaxConnections bounds the connections of arrivals; users have one each.
	MaxConnections int
	// Bodies is the memory for bodies of responses that are looked at; nil: no bound.
	Bodies *transport.Budget
	// LedgerBytes is the memory for the audit's ledgers; 0: there is no audit.
	LedgerBytes int
	// OnTime are the times within which requests are counted as on time, ascending.
	OnTime []time.Duration
	// StreamGoals are what streams keep that are counted as on time.
	StreamGoals []measure.StreamGoal
	// Log gets a record of each request; nil: there is none.
	Log *requestlog.Log
	// Traces draws the traces of requests; nil: they have none.
	Traces *trace.Sampler
	// Seed of the times that are drawn.
	Seed int64
	// Timer makes the timers of goroutines, and Clock the clocks of event loops; nil: those of the
	// machine.
	Timer func() timer.Timer
	Clock func() loop.Clock
	// ExposeResponses permits the messages of errors to quote responses.
	ExposeResponses bool

	timeouts []time.Duration // by request
}

// longest is the longest timeout that a request has.
func (c Config) longest() time.Duration {
	if len(c.timeouts) == 0 {
		return c.Timeout
	}
	return slices.Max(c.timeouts)
}

// Runner runs steps, one after another. It keeps the connections between them:
// each takes a port, which stays taken for a minute after it was closed.
type Runner struct {
	config Config
	client transport.Client
	probe  health.Probe

	// values are what users had at the end of the last step that they took part in, by their number among those
	// of the worker. An execution has it from its start to its end: steps run one after another.
	values map[int64]source.Values

	mu     sync.Mutex // held while connections are opened
	conns  []transport.Conn
	dialed dialCounts // up to the end of the last step
}

// NewRunner returns a Runner without connections.
func NewRunner(c Config) (*Runner, error) {
	if c.Source == nil || c.Client == nil {
		return nil, errors.New("runner: needs a source and a client")
	}
	if c.Timeout <= 0 {
		return nil, errors.New("target timeout: must be positive")
	}
	if c.MaxConnections < 1 {
		return nil, errors.New("runner: needs at least one connection")
	}
	if c.Timer == nil {
		c.Timer = timer.New
	}
	c.timeouts = make([]time.Duration, c.Source.Len())
	for i := range c.timeouts {
		c.timeouts[i] = c.Source.Timeout(i, c.Timeout)
	}
	return &Runner{config: c, client: c.Client, probe: health.NewProbe(), values: map[int64]source.Values{}}, nil
}

const (
	// openRate is the number of connections that are opened in a second: each takes
	// some 200 us of processor time here and as much in the target, which should
	// not be overloaded before the step begins.
	openRate = 1000
	// openAtOnce bounds the connections that are being opened at once, within a step
	// those whose opening takes processor time.
	openAtOnce = 64
)

// Prepare opens the connections that a step will need, until ctx ends. Failures
// are ignored: a request that has no connection opens one.
func (r *Runner) Prepare(ctx context.Context, step StepShare) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // a step may have the connections by now
	}
	if l, ok := step.Load.(Recorded); ok {
		l.Log.Prime()
	}
	r.open(ctx, r.ensure(step.Load.schedule(step, r.config).connections()))
}

// ensure returns n connections, making those that are missing.
func (r *Runner) ensure(n int) []transport.Conn {
	for len(r.conns) < n {
		r.conns = append(r.conns, r.client.NewConn())
	}
	return r.conns[:n]
}

func (r *Runner) open(ctx context.Context, conns []transport.Conn) {
	limiter := rate.NewLimiter(openRate, openAtOnce)
	var group errgroup.Group
	group.SetLimit(openAtOnce)
	for _, c := range conns {
		c.Resume() // the end of the step before may have interrupted it
		if isAlive(c) {
			continue
		}
		if limiter.Wait(ctx) != nil {
			break
		}
		group.Go(func() error {
			for range each(c) {
				_ = c.Open(ctx, time.Now().Add(r.config.Timeout))
			}
			return nil
		})
	}
	_ = group.Wait()
}

// isAlive says whether a connection is open as far as both sides know: to each target.
func isAlive(c transport.Conn) bool {
	alive := true
	for range each(c) {
		alive = alive && c.Alive()
	}
	return alive
}

// each selects one target of a connection after the other, where it has several, and the first
// at last.
func each(c transport.Conn) iter.Seq[int] {
	return func(yield func(int) bool) {
		routed, ok := c.(*transport.RoutedConn)
		if !ok {
			yield(0)
			return
		}
		for i := range routed.Targets() {
			if routed.Select(i); !yield(i) {
				break
			}
		}
		routed.Select(0)
	}
}

// openUntil is the time before its start at which a step stops opening
// connections: it takes some 30 ms to give 10,000 of them to a driver, and more
// on a busy machine.
const openUntil = 100 * time.Millisecond

// Start runs a step, which must have passed Check, at an instant. It must not be
// called before the last Execution is done, and it waits for a Prepare.
func (r *Runner) Start(step StepShare, start time.Time) *Execution {
	x := r.newExecution(step, start)
	go x.execute(x.drive)
	return x
}

func (r *Runner) newExecution(step StepShare, start time.Time) *Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &Execution{
		step: step, start: start.Add(step.WarmUp), timeouts: r.config.timeouts,
		runner: r, source: r.config.Source, dialed: r.dialed,
		schedule: step.Load.schedule(step, r.config), done: make(chan struct{}),
	}
	x.stood = x.stoodStill
	x.opened.Store(-1)
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.end.Store(int64(step.Load.length()))
	var ledgers *clientLedgers
	if bytes := r.config.LedgerBytes; bytes > 0 {
		ledgers = newClientLedgers(step.Load.length(), bytes)
	}
	x.rec = newRecorder(r.config.Source.Len(), step.Load.length(), r.config.OnTime, ledgers)
	x.rec.goals = r.config.StreamGoals
	x.rec.journeys = newJourneyCounts(r.config.Source.Journeys())
	x.rec.follow(x.schedule, step.Load)
	x.used = x.schedule.connections()
	x.conns = r.ensure(x.used)
	return x
}

// finished keeps the counts at the end of a step: later connections belong to the
// next.
func (r *Runner) finished() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialed = r.dials()
}

// Close closes all connections.
func (r *Runner) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
}
