package metric_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// What was not sent, or had no answer, has no time. Where it was not counted by request, it may be of any.
func TestRequestsWithoutATime(t *testing.T) {
	due := int64(105)
	part := func(due *int64) v1beta1.PartResult {
		return v1beta1.PartResult{Due: due, Counts: v1beta1.Counts{Sent: 100, Outcomes: v1beta1.Outcomes{Unfinished: 1}}}
	}
	r := &v1beta1.StepResult{Due: 1000, Unsent: 40, UnsentByGenerator: 30}
	r.Sent, r.Outcomes.Unfinished = 960, 11
	r.Types = []v1beta1.TypeResult{{Name: "Read", PartResult: part(&due)}, {Name: "Write", PartResult: part(nil)}}
	for q, want := range map[metric.Quantity]metric.Untimed{
		{Metric: "p95"}:                {Missing: 51, ByGenerator: 30, Due: 1000},
		{Metric: "p95", Type: "Read"}:  {Missing: 6, ByGenerator: 5, Due: 105},
		{Metric: "p95", Type: "Write"}: {Missing: 41, ByGenerator: 30, Due: 140},
	} {
		if got := metric.UntimedOf(q, r); got != want {
			t.Errorf("%+v: %+v, want %+v", q, got, want)
		}
	}
	u := metric.UntimedOf(metric.Quantity{}, r)
	for missing, want := range map[int64]bool{50: false, 51: true} {
		if got := u.Decide("p95", missing); got != want {
			t.Errorf("p95 is the time of one of %d in 1000: %v", missing, got)
		}
	}
	if u.Decide("failureRate", 1000) || u.Decide("longest", 1000) {
		t.Error("what is no quantile was refused")
	}
}
