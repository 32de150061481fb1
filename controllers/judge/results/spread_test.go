package results_test

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// rungs is a ladder with rests, repeated so many times.
func rungs(repetitions int32, users ...int32) []v1beta1.StepStatus {
	return plan.Steps(&v1beta1.LoadTestSpec{Repetitions: repetitions, Ladder: &v1beta1.Ladder{Users: users, Duration: *d(time.Second), Rest: d(time.Second)}})
}

// came is a complete step with that p95, in which every rate is its digits.
func came(p95 time.Duration, rate string) v1beta1.StepStatus {
	return v1beta1.StepStatus{State: v1beta1.StepComplete, Result: &v1beta1.StepResult{
		Counts: v1beta1.Counts{Sent: 100}, Throughput: rate, Goodput: rate,
		ResponseTime: &v1beta1.Latency{P50: d(p95 / 2), P95: d(p95), P99: d(2 * p95)},
	}}
}

func but(s v1beta1.StepStatus, edit func(*v1beta1.StepStatus)) v1beta1.StepStatus {
	edit(&s)
	return s
}

// ran gives the steps of a run their names and, to those that send load, what came
// of them, in order; what is left over has not begun.
func ran(planned []v1beta1.StepStatus, loads ...v1beta1.StepStatus) []v1beta1.StepStatus {
	var list []v1beta1.StepStatus
	for _, p := range planned {
		s := v1beta1.StepStatus{State: v1beta1.StepComplete}
		if !p.Load.IsPause() {
			s = v1beta1.StepStatus{State: v1beta1.StepPending}
			if len(loads) > 0 {
				s, loads = loads[0], loads[1:]
			}
		}
		s.Name, s.Repetition, s.Rung, s.Load = p.Name, p.Repetition, p.Rung, p.Load
		list = append(list, s)
	}
	return list
}

func times(low, median, high time.Duration) *v1beta1.DurationSpread {
	return &v1beta1.DurationSpread{Min: *d(low), Median: *d(median), Max: *d(high)}
}

func figures(low, median, high string) *v1beta1.NumberSpread {
	return &v1beta1.NumberSpread{Min: low, Median: median, Max: high}
}

// spread is that of repetitions of which the least, middle and greatest are such.
func spread(name string, n int32, low, median, high time.Duration, rates *v1beta1.NumberSpread) v1beta1.SpreadStatus {
	return v1beta1.SpreadStatus{
		Name: name, Repetitions: n, Throughput: rates, Goodput: rates, FailureRate: figures("0%", "0%", "0%"),
		P50: times(low/2, median/2, high/2), P95: times(low, median, high), P99: times(2*low, 2*median, 2*high),
	}
}

func TestSpread(t *testing.T) {
	type (
		steps   = []v1beta1.StepStatus
		spreads = []v1beta1.SpreadStatus
	)
	state := func(state v1beta1.StepState) v1beta1.StepStatus {
		return but(came(99*ms, "9.0"), func(s *v1beta1.StepStatus) { s.State = state })
	}
	// Two repetitions of 8 ms, the second of which lacks something, and what there is of them.
	lacks := func(edit func(*v1beta1.StepResult)) steps {
		return steps{came(8*ms, "9.0"), but(came(8*ms, "9.0"), func(s *v1beta1.StepStatus) { edit(s.Result) })}
	}
	without := func(edit func(*v1beta1.SpreadStatus)) spreads {
		s := spread("10", 2, 8*ms, 8*ms, 8*ms, figures("9.0", "9.0", "9.0"))
		edit(&s)
		return spreads{s}
	}
	tests := map[string]struct {
		planned, loads steps
		want           spreads
	}{
		"nothing ran":             {rungs(3, 10), nil, nil},
		"one repetition has none": {rungs(1, 10, 20), steps{came(ms, "1.0"), came(ms, "1.0")}, nil},
		"the first of two":        {rungs(2, 10), steps{came(ms, "1.0")}, nil},
		"odd: the middle one": {rungs(3, 10), steps{came(30*ms, "9.5"), came(10*ms, "100.0"), came(20*ms, "20.5")},
			spreads{spread("10", 3, 10*ms, 20*ms, 30*ms, figures("9.5", "20.5", "100.0"))}},
		"even: the lower of the two in the middle": {rungs(4, 10), steps{came(40*ms, "1.0"), came(10*ms, "4.0"), came(30*ms, "2.0"), came(20*ms, "3.0")},
			spreads{spread("10", 4, 10*ms, 20*ms, 40*ms, figures("1.0", "2.0", "4.0"))}},
		"two": {rungs(2, 10), steps{came(40*ms, "1.0"), came(10*ms, "4.0")}, spreads{spread("10", 2, 10*ms, 10*ms, 40*ms, figures("1.0", "1.0", "4.0"))}},
		"each rung with its own": {rungs(2, 10, 20), steps{came(1*ms, "1.0"), came(2*ms, "2.0"), came(3*ms, "3.0"), came(4*ms, "4.0")},
			spreads{spread("10", 2, 1*ms, 1*ms, 3*ms, figures("1.0", "1.0", "3.0")), spread("20", 2, 2*ms, 2*ms, 4*ms, figures("2.0", "2.0", "4.0"))}},
		"equal rungs are two": {rungs(2, 10, 10), steps{came(1*ms, "1.0"), came(2*ms, "2.0"), came(3*ms, "3.0"), came(4*ms, "4.0")},
			spreads{spread("10", 2, 1*ms, 1*ms, 3*ms, figures("1.0", "1.0", "3.0")), spread("10 (2)", 2, 2*ms, 2*ms, 4*ms, figures("2.0", "2.0", "4.0"))}},
		"a rung that only one repetition has reached": {rungs(2, 10, 20), steps{came(1*ms, "1.0"), came(2*ms, "2.0"), came(3*ms, "3.0")},
			spreads{spread("10", 2, 1*ms, 1*ms, 3*ms, figures("1.0", "1.0", "3.0"))}},
		"a repetition that was cut is left out": {rungs(3, 10), steps{came(10*ms, "1.0"), came(30*ms, "3.0"), state(v1beta1.StepCut)},
			spreads{spread("10", 2, 10*ms, 10*ms, 30*ms, figures("1.0", "1.0", "3.0"))}},
		"a repetition that runs is left out":        {rungs(2, 10), steps{came(10*ms, "1.0"), state(v1beta1.StepRunning)}, nil},
		"a repetition without a result is left out": {rungs(2, 10), steps{came(10*ms, "1.0"), {State: v1beta1.StepComplete}}, nil},
		"a quantile that one has not": {rungs(2, 10), lacks(func(r *v1beta1.StepResult) { r.ResponseTime.P99 = nil }),
			without(func(s *v1beta1.SpreadStatus) { s.P99 = nil })},
		"one without a response": {rungs(2, 10), lacks(func(r *v1beta1.StepResult) { r.ResponseTime = nil }),
			without(func(s *v1beta1.SpreadStatus) { s.P50, s.P95, s.P99 = nil, nil, nil })},
		"one without a window": {rungs(2, 10), lacks(func(r *v1beta1.StepResult) { r.Throughput, r.Goodput = "", "" }),
			without(func(s *v1beta1.SpreadStatus) { s.Throughput, s.Goodput = nil, nil })},
		"one that sent nothing": {rungs(2, 10), lacks(func(r *v1beta1.StepResult) { r.Sent = 0 }), without(func(s *v1beta1.SpreadStatus) { s.FailureRate = nil })},
		"shares are compared, not counts of failures": {rungs(2, 10),
			steps{lacks(func(r *v1beta1.StepResult) { r.Sent, r.Failed = 100_000, 3 })[1], lacks(func(r *v1beta1.StepResult) { r.Sent, r.Failed = 10, 1 })[1]},
			without(func(s *v1beta1.SpreadStatus) { s.FailureRate = figures("<0.01%", "<0.01%", "10%") })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			steps := ran(tc.planned, tc.loads...)
			same.As(t, "spread", tc.want, results.Spread(steps))
			same.As(t, "what Spread was given", ran(tc.planned, tc.loads...), steps)
		})
	}
}

// Whatever the repetitions came to: half of them are no greater than the median,
// none is less than the least or greater than the greatest, and all three are
// figures that a repetition had.
func TestSpreadBoundsTheMedian(t *testing.T) {
	property := func(first, second uint16, more []uint16) bool {
		all := append([]uint16{first, second}, more[:min(len(more), 30)]...)
		loads := make([]v1beta1.StepStatus, len(all))
		for i, n := range all {
			loads[i] = came(time.Duration(n)*ms, "1.0")
		}
		planned := rungs(int32(len(all)), 10)
		got := results.Spread(ran(planned, loads...))
		if len(got) != 1 || int(got[0].Repetitions) != len(all) {
			return false
		}
		p95, notGreater, had := got[0].P95, 0, map[time.Duration]bool{}
		for _, n := range all {
			v := time.Duration(n) * ms
			had[v] = true
			if v < p95.Min.Duration || v > p95.Max.Duration {
				return false
			}
			if v <= p95.Median.Duration {
				notGreater++
			}
		}
		return 2*notGreater >= len(all) && had[p95.Min.Duration] && had[p95.Median.Duration] && had[p95.Max.Duration]
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}
