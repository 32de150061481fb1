package attack

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// arrivals are hits that come whether or not earlier ones were answered.
type arrivals struct {
	dueTimes pace.Schedule // of this worker
	share    pace.Share
	duration time.Duration
	perSec   float64      // of this worker, at most
	limit    int          // of requests in flight, and of connections that carry one each
	shared   http2.Shared // the connections, if they carry several
	log      *recordedLog // of which the requests are; nil: they are of the mix
}

var _ schedule = (*arrivals)(nil)

func (l Arrivals) schedule(step StepShare, c Config) schedule {
	a := &arrivals{dueTimes: l.dueTimes(step, c), share: step.Share, duration: l.Duration}
	if step.WarmUp > 0 {
		a.dueTimes = pace.NewWarmed(l.warmUp(step, c), step.WarmUp, a.dueTimes)
	}
	if l.Poisson || step.Share.Count > 0 || step.WarmUp > 0 {
		a.perSec = max(l.Rate, l.End).PerSecond() / float64(step.Share.Stride)
	}
	a.limit = maxInFlight(a.perSec*c.longest().Seconds(), l.Poisson, c.MaxConnections)
	if client, ok := c.Client.(*http2.Client); ok {
		a.shared = client.Shared()
	}
	if c.Source.Journeys() > 0 {
		return newSessions(a, c)
	}
	return a
}

// dueTimes are the worker's part of a load without a warm-up.
func (l Arrivals) dueTimes(step StepShare, c Config) pace.Schedule {
	ramp := pace.Ramp{From: l.Rate, To: l.End, Length: l.Duration}
	if l.End == 0 {
		ramp.To = l.Rate
	}
	switch {
	case l.Poisson:
		return pace.NewPoisson(ramp, step.Share.Stride, c.Seed, step.Index, c.Worker)
	case l.End != 0:
		return pace.Arrivals{All: ramp, Share: step.Share}
	default:
		return pace.Arrivals{All: l.Rate, Share: step.Share}
	}
}

// warmUp is the worker's part of the load with which the step begins, for as
// long as its warm-up.
func (l Arrivals) warmUp(step StepShare, c Config) pace.Schedule {
	l.Duration, l.End = step.WarmUp, 0
	step.Share = step.Share.Of(l.Rate.Before(step.WarmUp))
	step.Index = ^step.Index // no step has it: the random times are independent
	return l.dueTimes(step, c)
}

const (
	// fewInFlight is the number of requests that may always be in flight.
	fewInFlight = 64
	// usualResponse is the response time for which connections are opened
	// beforehand; more are opened when responses take longer.
	usualResponse = 20 * time.Millisecond
	// spareConnections are opened beyond that.
	spareConnections = 8
)

func (a *arrivals) connections() int {
	if n := a.shared.Connections; n > 0 {
		return min(a.limit, n)
	}
	return min(a.limit, spareConnections+int(math.Ceil(a.perSec*usualResponse.Seconds())))
}

// maxInFlight bounds the requests in flight. By Little's law there are never
// more than rate x timeout, m, unless the worker itself is too slow; connections
// bound them too. A hit beyond that waits, which counts into its response time,
// or is unsent at the end.
//
// For Poisson arrivals m is the mean. One of p parts has m/p of them, and more than
// m/p + 6·√(m/p) + 10 fewer than one time in a billion.
func maxInFlight(m float64, poisson bool, connections int) int {
	if poisson {
		p := float64(processors())
		m += 6*math.Sqrt(m*p) + 10*p
	}
	return min(connections, max(fewInFlight, int(min(math.Ceil(m), math.MaxInt32))))
}

// maxParts has a connection for each part, at least.
func (a *arrivals) maxParts() int64 {
	if n := a.shared.Connections; n > 0 {
		return int64(min(a.limit, n))
	}
	return int64(a.limit)
}

// render renders a hit of the worker into a buffer, and returns its index in the
// mix.
func (a *arrivals) render(x *Execution, b *source.Buffer, h *hit) int {
	n := h.number
	seq := a.share.Number(n)
	request := x.source.RequestOf(x.source.Position(seq), 0)
	x.source.Render(b, request, source.Vars{
		Seq: seq, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order:    source.Order{Start: a.share.First, By: a.share.Stride, N: n, Streams: 1},
		Redirect: h.redirect,
	})
	return request
}
