package world

import (
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// snapshot is what a worker has measured of a step.
type snapshot struct {
	Measured
	due, sent  int64
	window     time.Duration
	latency    time.Duration // of every response
	final, cut bool
	// late requests were sent lateBy later than they were due, as the worker knew of the step
	// no earlier.
	late   int64
	lateBy time.Duration
	began  time.Time // by the coordinator's clock
	at     time.Time // likewise
	whole  *measure.Measurement
}

// elapsed is the part of a step that is over.
func (x *Worker) elapsed(e *execution) time.Duration {
	return min(max(0, x.world.now.Sub(e.start)), e.length)
}

// due is how many requests are due on this worker in the first part of a step. Users who wait
// for responses send none before the worker begins, unless it begins tolerably late.
func (x *Worker) due(e *execution, elapsed time.Duration) int64 {
	if e.isClosed() && e.late > tolerablyLate {
		elapsed -= e.late
	}
	if elapsed <= 0 {
		return 0
	}
	return Due(&e.load, x.number, len(x.world.Workers), elapsed)
}

// perSecond is how many requests each worker sends in a second where no schedule says it.
const perSecond = 20

// Due is how many requests of a step are due on one of all workers after so long.
func Due(load *v1beta1.StepLoad, worker, workers int, elapsed time.Duration) int64 {
	rate := load.Rate
	if rate == nil {
		rate = load.RatePerUser
	}
	if load.IsBurst() {
		users := (int64(load.Users) - int64(worker) + int64(workers) - 1) / int64(workers)
		return users * int64(load.RequestsPerUser)
	}
	if rate == nil {
		return int64(elapsed.Seconds() * perSecond)
	}
	perSecond, err := strconv.ParseFloat(rate.String(), 64)
	if err != nil {
		panic(err)
	}
	users := workers // who take turns
	if load.Users > 0 {
		users = int(load.Users)
		perSecond *= float64(load.Users)
	}
	n := int64(0)
	for hit := 0; float64(hit) < perSecond*elapsed.Seconds(); hit++ {
		if hit%users%workers == worker {
			n++
		}
	}
	return n
}

// counts adds the requests of a step up to the nth of this worker to what the target served.
func (x *Worker) counts(e *execution, n int64) {
	x.world.served[e.step] += n - e.counted
	e.counted = n
}

// measured is what the worker has measured of the first part of a step.
func (x *Worker) measured(e *execution, elapsed time.Duration, final bool) *snapshot {
	w, n := x.world, x.due(e, elapsed)
	x.counts(e, n)
	s := &snapshot{
		Measured: w.Measured, due: n + w.Excess, sent: n, window: elapsed, latency: w.latencyOf(e.step), final: final,
		lateBy: e.late, began: e.began,
	}
	if !e.isClosed() {
		s.late = x.due(e, min(e.late, elapsed))
	}
	if s.InFlight = min(s.InFlight, n); final {
		s.InFlight = 0
	}
	return s
}

// measurement is the whole of it, of a run with so many requests and journeys. Each journey is
// of one request.
func (s *snapshot) measurement(requests, journeys int) *measure.Measurement {
	if s.whole != nil {
		return s.whole
	}
	m := measure.NewMeasurement(requests)
	m.Journeys = measure.NewJourneys(journeys)
	s.whole = m
	m.Due, m.Unsent, m.Window = s.due, s.due-s.sent, s.window
	m.FirstStart, m.LastStart = s.began, s.began
	m.Timeline, m.UserTime = &measure.Timeline{}, s.window
	m.Health.CPUThrottled, m.Health.CPUThrottledMax = s.Throttled, s.Throttled
	answered := s.sent - s.InFlight
	lateAnswered := min(s.late, answered)
	r := &m.Requests[0]
	r.Sent, r.Late = s.sent, s.late
	r.Expected, r.CompletedInWindow, r.ExpectedInWindow = answered, answered, answered
	r.Outcomes[measure.Success], r.Outcomes[measure.Unfinished] = answered, s.InFlight
	r.Response.RecordN(s.lateBy+s.latency, lateAnswered)
	r.Response.RecordN(s.latency, answered-lateAnswered)
	r.Service.RecordN(s.latency, answered)
	for i := range m.Journeys {
		j := &m.Journeys[i]
		j.Started, j.Completed = s.sent, answered
		j.Time.RecordN(s.latency, answered)
	}
	m.Lateness.RecordN(s.lateBy, s.late)
	m.Lateness.RecordN(s.Lateness, s.sent-s.late)
	if s.Lateness > measure.Displacement(s.window) {
		r.Displaced = s.sent
	}
	return m
}
