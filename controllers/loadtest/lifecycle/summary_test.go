package lifecycle_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The goodput of a running step is that of all workers that are left, or not said. What
// is in flight has not failed yet, and is not counted as answered.
func TestSummaryOfARunningStep(t *testing.T) {
	for name, tc := range map[string]struct {
		workers   []exchange.Worker
		reporting int32
		want      v1beta1.Summary
	}{
		"all report":                 {[]exchange.Worker{ready, ready, ready}, 3, v1beta1.Summary{Step: "1/2", Workers: "3/3", Goodput: "0.5/s", Errors: "16.67%"}},
		"one does not report yet":    {[]exchange.Worker{ready, ready, ready}, 2, v1beta1.Summary{Step: "1/2", Workers: "3/3", Errors: "16.67%"}},
		"one is lost, two report":    {[]exchange.Worker{ready, ready, ended}, 2, v1beta1.Summary{Step: "1/2", Workers: "2/3", Goodput: "0.5/s", Errors: "16.67%", Reason: "WorkerLost"}},
		"one is lost, and one waits": {[]exchange.Worker{ready, ready, ended}, 1, v1beta1.Summary{Step: "1/2", Workers: "2/3", Errors: "16.67%", Reason: "WorkerLost"}},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 3
			merged := measure.NewMeasurement(1)
			r := &merged.Requests[0]
			r.Sent, r.Expected, r.ExpectedInWindow = 10, 5, 5
			r.Outcomes[measure.Success], r.Outcomes[measure.ServerError], r.Outcomes[measure.Unfinished] = 5, 1, 4
			seen := awaited(tc.workers...)
			until := began.Add(20 * time.Second)
			seen.Step = &exchange.Report{Merged: merged, Reporting: tc.reporting, Until: until, MeanWindow: 10 * time.Second}
			got := lifecycle.Decide(lt, policy.Rules{}, seen, until).Status.Summary
			same.As(t, "summary", tc.want, got)
		})
	}
}
