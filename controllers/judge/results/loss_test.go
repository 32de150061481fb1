package results_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Without a worker that is lost, a step is as good as its other workers.
func TestRestOfTheWorkersMustCarryOutTheirShares(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	rate := v1beta1.NewDecimal("2")
	planned := v1beta1.StepLoad{Users: 100, RatePerUser: &rate, Requests: 8000, Duration: &metav1.Duration{Duration: 40 * time.Second}}
	unplanned := planned
	unplanned.Requests, unplanned.RatePerUser = 0, nil
	for name, tc := range map[string]struct {
		load    v1beta1.StepLoad
		workers [2]exchange.Worker // the first and the third of three; the second is lost
		late    time.Duration
		want    bool
	}{
		"their shares":               {planned, [2]exchange.Worker{{Final: true, Due: 2720}, {Final: true, Due: 2640}}, 0, true},
		"less than a share":          {planned, [2]exchange.Worker{{Final: true, Due: 2719}, {Final: true, Due: 2640}}, 0, false},
		"more than a share":          {planned, [2]exchange.Worker{{Final: true, Due: 2720}, {Final: true, Due: 2641}}, 0, false},
		"no end":                     {planned, [2]exchange.Worker{{Final: true, Due: 2720}, {Due: 2640}}, 0, false},
		"shares that are open":       {unplanned, [2]exchange.Worker{{Final: true, Due: 7}, {Final: true, Due: 9}}, 0, true},
		"as late as a worker may be": {planned, [2]exchange.Worker{{Final: true, Due: 2720}, {Final: true, Due: 2640}}, results.TolerableDelay, true},
		"one of them began late":     {planned, [2]exchange.Worker{{Final: true, Due: 2720}, {Final: true, Due: 2640}}, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			report := &exchange.Report{Merged: measure.NewMeasurement(1)}
			report.Merged.FirstStart, report.Merged.LastStart = start, start.Add(tc.late)
			at := metav1.NewMicroTime(start)
			step := &v1beta1.StepStatus{Load: tc.load, StartTime: &at}
			workers := []exchange.Worker{tc.workers[0], {Due: 17}, tc.workers[1]}
			same.As(t, "carried out", tc.want, results.RestCarriedOut(step, workers, report, func(n int) bool { return n == 1 }))
		})
	}
}

func TestCoverageIsTheShareOfThePlanThatIsInTheResult(t *testing.T) {
	for name, tc := range map[string]struct {
		planned int64
		result  *v1beta1.StepResult
		want    string
	}{
		"seven of eight":      {8000, &v1beta1.StepResult{Due: 7000}, "87.5%"},
		"all but one":         {1_000_000, &v1beta1.StepResult{Due: 999_999}, ">99.99%"},
		"none":                {8000, &v1beta1.StepResult{}, "0%"},
		"all":                 {8000, &v1beta1.StepResult{Due: 8000}, ""},
		"nothing was planned": {0, &v1beta1.StepResult{Due: 8000}, ""},
		"no result":           {8000, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			step := &v1beta1.StepStatus{Load: v1beta1.StepLoad{Requests: tc.planned}, Result: tc.result}
			if got := results.Coverage(step); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
