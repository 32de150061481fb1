package main

import (
	"math"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/simulated"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const served = `# TYPE controller_runtime_reconcile_time_seconds histogram
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="0.005"} 10
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="0.01"} 90
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="0.1"} 100
controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="+Inf"} 100
controller_runtime_reconcile_time_seconds_bucket{controller="another",le="+Inf"} 7
`

func TestPassesAreReadFromTheirHistogram(t *testing.T) {
	p, err := parsePasses(served)
	must.Succeed(t, err)
	before := passes{count: 10, buckets: map[float64]float64{0.005: 10, 0.01: 10, 0.1: 10, math.Inf(1): 10}}
	for name, tc := range map[string]struct {
		got, want float64
	}{
		"all":                           {p.count, 100},
		"the median":                    {p.quantile(0.5), 7.5},
		"the 95th percentile":           {p.quantile(0.95), 55},
		"the longest":                   {p.quantile(1), 100},
		"those since":                   {p.since(before).count, 90},
		"the median of those since":     {p.since(before).quantile(0.5), 7.8125},
		"the median of none":            {passes{}.quantile(0.5), 0},
		"one that is beyond all bounds": {passes{count: 1, buckets: map[float64]float64{1: 0, math.Inf(1): 1}}.quantile(0.5), 1000},
	} {
		if math.Abs(tc.got-tc.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}

// A step begins when its last worker does.
func TestStepsBeginWithTheirLastWorker(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	starts := []simulated.Start{
		{Run: "a", Step: 0, Late: ms(1), Ahead: ms(400)}, {Run: "a", Step: 0, Late: ms(5), Ahead: ms(300)},
		{Run: "a", Step: 1, Late: ms(2), Ahead: ms(-2)}, {Run: "b", Step: 0, Late: ms(9), Ahead: ms(-3)},
	}
	if p50, p99 := skews(starts, simulated.Start.Lateness); p50 != 5 || p99 != 9 {
		t.Errorf("p50 %v, p99 %v; want 5, 9", p50, p99)
	}
	if p50, p99 := skews(starts, simulated.Start.ByOperator); p50 != 2 || p99 != 3 {
		t.Errorf("by the operator: p50 %v, p99 %v; want 2, 3", p50, p99)
	}
	if p50, p99 := skews(nil, simulated.Start.Lateness); p50 != 0 || p99 != 0 {
		t.Errorf("of no steps: %v, %v", p50, p99)
	}
}
