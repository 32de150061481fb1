package attack

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// arrivals is hits that come whether or not earlier ones were answered, on
// vegeta's Attacker.
type arrivals struct {
	schedule pace.Schedule // of this worker
	share    pace.Share
	duration time.Duration
	perSec   float64 // of this worker, at most
}

var _ engine = (*arrivals)(nil)

// newArrivals makes the worker's part of a step. seed and worker are for what is
// drawn.
func newArrivals(load Arrivals, step Step, seed int64, worker int32) *arrivals {
	a := &arrivals{schedule: load.schedule(step, seed, worker), share: step.Share, duration: load.Duration}
	if step.WarmUp > 0 {
		a.schedule = pace.NewWarmed(load.warmUp(step, seed, worker), step.WarmUp, a.schedule)
	}
	if load.Poisson || step.Share.Count > 0 || step.WarmUp > 0 {
		a.perSec = max(load.Rate, load.End).PerSecond() / float64(step.Share.Stride)
	}
	return a
}

// schedule is the worker's part of a load without a warm-up.
func (l Arrivals) schedule(step Step, seed int64, worker int32) pace.Schedule {
	ramp := pace.Ramp{From: l.Rate, To: l.End, Length: l.Duration}
	if l.End == 0 {
		ramp.To = l.Rate
	}
	switch {
	case l.Poisson:
		return pace.NewPoisson(ramp, step.Share.Stride, seed, step.Index, worker)
	case l.End != 0:
		return pace.Arrivals{All: ramp, Share: step.Share}
	default:
		return pace.Arrivals{All: l.Rate, Share: step.Share}
	}
}

// warmUp is the worker's part of the load with which the step begins, for as
// long as its warm-up.
func (l Arrivals) warmUp(step Step, seed int64, worker int32) pace.Schedule {
	l.Duration, l.End = step.WarmUp, 0
	step.Share = step.Share.Of(l.Rate.Before(step.WarmUp))
	step.Index = ^step.Index // no step's: what is drawn is independent
	return l.schedule(step, seed, worker)
}

const (
	// fewWorkers is how many workers there may always be.
	fewWorkers = 64
	// usualResponse is the response time for which workers and connections are
	// there from the beginning; more come when responses take longer.
	usualResponse = 20 * time.Millisecond
	// spareWorkers are there beyond that.
	spareWorkers = 8
)

// workers is how many there are from the beginning.
func (a *arrivals) workers() int {
	return spareWorkers + int(math.Ceil(a.perSec*usualResponse.Seconds()))
}

// maxWorkers bounds the requests in flight. By Little's law there are never
// more than rate x timeout, unless the worker itself is too slow; connections
// bound them too. A hit beyond that waits, which counts into its response time,
// or is unsent at the end.
func (a *arrivals) maxWorkers(timeout time.Duration, connections int) int {
	inFlight := math.Ceil(a.perSec * timeout.Seconds())
	return min(connections, max(fewWorkers, int(min(inFlight, math.MaxInt32))))
}

func (a *arrivals) due(t time.Duration, _ int64) int64 {
	return a.schedule.Before(t) - a.schedule.Before(0)
}

func (a *arrivals) drive(x *Run) {
	x.connect()
	limit := a.maxWorkers(x.timeout, x.runner.config.MaxConnections)
	trip := &roundTripper{run: x, arrivals: a, pool: newPool(x.clients, openAtOnce, x.another)}
	attacker := vegeta.NewAttacker(
		vegeta.Workers(uint64(min(limit, a.workers()))),
		vegeta.MaxWorkers(uint64(limit)),
		vegeta.Client(&http.Client{Transport: trip}),
	)
	// The dispatcher may wait for a worker when the window closes: only Stop
	// ends that.
	stop := time.AfterFunc(time.Until(x.start.Add(a.duration+grace)), func() { attacker.Stop() })
	defer stop.Stop()
	pacer := &pacer{run: x, arrivals: a}
	for range attacker.Attack(target, pacer, 0, "") {
		// Each result was recorded by the round tripper.
	}
}

// target is the same for every hit: the round tripper renders the request, since
// only it knows the number of the hit.
func target(t *vegeta.Target) error {
	t.Method, t.URL = http.MethodGet, "http://t/"
	return nil
}

// pacer holds vegeta's dispatcher until a hit is due. It sleeps itself: the
// dispatcher's own sleep is up to a millisecond late.
type pacer struct {
	run      *Run
	arrivals *arrivals
	sleep    pace.Sleep
}

var _ vegeta.Pacer = (*pacer)(nil)

// Pace is called by the dispatcher's goroutine only.
func (p *pacer) Pace(_ time.Duration, hits uint64) (time.Duration, bool) {
	if p.sleep == nil {
		p.sleep = pace.Precise()
		if !p.run.await(p.sleep) {
			return 0, true
		}
	}
	due := p.arrivals.schedule.Due(int64(hits))
	now := p.run.elapsed()
	if due >= p.arrivals.duration || now >= p.run.closes()+grace || p.run.stopped.Load() {
		return 0, true
	}
	if due <= now {
		return 0, false
	}
	return 0, !pace.Wait(p.run.start.Add(due), p.run.halt, p.sleep)
}

// Rate is asked for plots only.
func (p *pacer) Rate(time.Duration) float64 { return p.arrivals.perSec }

// roundTripper sends vegeta's hits.
type roundTripper struct {
	run      *Run
	arrivals *arrivals
	pool     *pool
}

var _ http.RoundTripper = (*roundTripper)(nil)

// RoundTrip sends the hit that vegeta numbered. The response is the bare status:
// the body has been read.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := strconv.ParseInt(r.Header.Get("X-Vegeta-Seq"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("number of the hit: %w", err)
	}
	x := t.run
	seq := t.arrivals.share.Number(n)
	h := hit{request: x.source.Turn(0, seq), due: t.arrivals.schedule.Due(n)}
	l, ok := t.pool.take(x.halt)
	if !ok {
		return nil, errClosed
	}
	c := l.client
	defer t.pool.give(c)
	if l.opening {
		c.opened = t.pool.opened
	}
	x.source.Render(&c.buffer, h.request, source.Vars{
		Seq: seq, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order: source.Order{Start: t.arrivals.share.First, By: t.arrivals.share.Stride, N: n, Lanes: 1},
	})
	_, status, err := c.send(x, &h)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}

// another is one more client, which the runner keeps.
func (x *Run) another() *client {
	r := x.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	x.mu.Lock()
	n := len(x.clients)
	x.mu.Unlock()
	c := r.ensure(n + 1)[n]
	c.line.Resume()
	x.join(c)
	return c
}
