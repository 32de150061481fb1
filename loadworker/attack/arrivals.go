package attack

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// arrivals is hits that come whether or not earlier ones were answered.
type arrivals struct {
	schedule pace.Schedule // of this worker
	share    pace.Share
	duration time.Duration
	perSec   float64 // of this worker, at most
}

var _ engine = (*arrivals)(nil)

// newArrivals makes the worker's part of a step. seed and worker are for what is
// drawn.
func newArrivals(load Arrivals, step StepShare, seed int64, worker int32) *arrivals {
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
func (l Arrivals) schedule(step StepShare, seed int64, worker int32) pace.Schedule {
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
func (l Arrivals) warmUp(step StepShare, seed int64, worker int32) pace.Schedule {
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

// prepare renders the worker's n-th hit into a buffer.
func (a *arrivals) prepare(x *Execution, b *source.Buffer, n int64) hit {
	seq := a.share.Number(n)
	request := x.source.RequestOf(0, seq)
	x.source.Render(b, request, source.Vars{
		Seq: seq, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order: source.Order{Start: a.share.First, By: a.share.Stride, N: n, Streams: 1},
	})
	return hit{request: request}
}

func (a *arrivals) drive(x *Execution) {
	x.connect()
	limit := a.maxWorkers(x.timeout, x.runner.config.MaxConnections)
	if a.loops(x, limit) != nil {
		a.attack(x, limit)
	}
}

// another is one more client, which the runner keeps.
func (x *Execution) another() *client {
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
