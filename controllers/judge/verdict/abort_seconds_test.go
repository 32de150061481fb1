package verdict_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// abortedAfter looks at a running step again and again. record adds to what was measured at the look before,
// and edit changes how it is seen. It returns after which look the step was aborted; 0: it was not.
func abortedAfter(
	t *testing.T, s *v1beta1.LoadTestSpec, step v1beta1.StepStatus, looks int, every time.Duration,
	record func(look int, m *measure.Measurement), edit func(look int, live *verdict.Live),
) int {
	t.Helper()
	s.Thresholds[0].OnBreach = v1beta1.BreachAbort
	step.Result = &v1beta1.StepResult{}
	status := &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s)}
	var seconds verdict.Seconds
	merged := measure.NewMeasurement(2)
	for look := 1; look <= looks; look++ {
		merged = clone(t, merged)
		record(look, merged)
		merged.Window = time.Duration(look) * every
		live := verdict.Live{Step: &step, Merged: merged, Shortest: merged.Window, All: true}
		if edit != nil {
			edit(look, &live)
		}
		var breach *v1beta1.ThresholdStatus
		if _, breach, seconds = verdict.Abort(s, status, live, seconds); breach != nil {
			return look
		}
	}
	return 0
}

// halfFailing has so many requests end from one look to the next. Half of them fail in each look for which bad
// is true.
func halfFailing(requests int64, bad func(look int) bool) func(int, *measure.Measurement) {
	return func(look int, m *measure.Measurement) {
		r := &m.Requests[0]
		for n := range requests {
			r.Sent++
			r.Response.Record(ms)
			r.Service.Record(ms)
			if bad(look) && n%2 == 0 {
				r.Outcomes[measure.ServerError]++
				r.Failed.Record(ms, ms, ms)
				continue
			}
			r.Outcomes[measure.Success]++
			r.Expected++
		}
	}
}

func TestOnlyBreachesOfAWholeSecondLast(t *testing.T) {
	always := func(int) bool { return true }
	second := func(look int) bool { return look%2 == 0 }
	// In the tenth look a worker is counted anew: the mean of the windows stands still.
	standstill := func(look int, live *verdict.Live) {
		if look == 10 {
			live.Merged.Window -= time.Second
		}
	}
	apart := func(look int, live *verdict.Live) { live.All = look > 10 }
	unseen := func(look int, live *verdict.Live) { live.All = look < 6 || look > 12 }
	other := func(look int, live *verdict.Live) {
		if look >= 10 {
			next := *live.Step
			live.Step, next.Name = &next, "next"
		}
	}
	ends := func(_ int, live *verdict.Live) {
		step := planned()
		step.Load.Requests, step.Result = 1_000_000, live.Step.Result
		live.Step = &step
	}
	fewer := func(look int, live *verdict.Live) {
		if look == 10 {
			live.Merged = measure.NewMeasurement(2)
			live.Merged.Window = live.Shortest
		}
	}
	doubtful := func(look int, live *verdict.Live) {
		live.Step.Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: look >= 8 && look <= 20}
	}
	for name, tc := range map[string]struct {
		every    time.Duration
		requests int64
		bad      func(int) bool
		edit     func(int, *verdict.Live)
		want     int
	}{
		"bad seconds": {time.Second, 100, always, nil, 14},
		"bad halves, in seconds of which each is bad": {500 * time.Millisecond, 100, second, nil, 29},
		"every other look, as far apart as needed":    {900 * time.Millisecond, 100, second, nil, 0},
		"every other look, of as many as needed":      {time.Second, 20, second, nil, 0},
		"every other look, of fewer than needed":      {time.Second, 19, second, nil, 13},
		"a worker is not seen at first":               {time.Second, 100, always, apart, 21},
		"a look after which no time has passed":       {time.Second, 100, always, standstill, 19},
		"a worker is not seen for a while":            {time.Second, 100, always, unseen, 20},
		"another step":                                {time.Second, 100, always, other, 20},
		"a step of which it is known what is due":     {time.Second, 100, always, ends, 0},
		"a worker is replaced":                        {time.Second, 100, always, fewer, 20},
		"another load for a while":                    {time.Second, 100, always, doubtful, 27},
	} {
		t.Run(name, func(t *testing.T) {
			limit := spec(atMost("failureRate", "10%"))
			same.As(t, "aborted after look", tc.want, abortedAfter(t, limit, users(10), 60, tc.every, halfFailing(tc.requests, tc.bad), tc.edit))
		})
	}
	service, never := spec(serviceTime(atMost("p50", "500us"))), func(int) bool { return false }
	if abortedAfter(t, service, users(10), 60, time.Second, halfFailing(20, never), nil) != 14 {
		t.Error("service times do not abort")
	}
}
