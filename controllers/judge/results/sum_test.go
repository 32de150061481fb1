package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A step that was cut while its worker was lost, or for which the status had no room, has no histogram: the sum then
// has no times, since the other steps have only a part of them.
func TestSumHasTheTimesOfAllStepsOrNone(t *testing.T) {
	of := func(millis time.Duration, edit func(*v1beta1.StepResult)) v1beta1.StepStatus {
		h := measure.NewHistogram()
		h.RecordN(millis*time.Millisecond, 100)
		encoded, err := h.Encode()
		must.Succeed(t, err)
		step := v1beta1.StepStatus{Result: &v1beta1.StepResult{Histogram: encoded, ResponseTime: &v1beta1.Latency{Samples: 100}}}
		step.Result.Sent = 100
		edit(step.Result)
		return step
	}
	whole := func(*v1beta1.StepResult) {}
	for name, tc := range map[string]struct {
		other   func(*v1beta1.StepResult)
		samples int64 // 0: the times are not known
	}{
		"both":                  {whole, 200},
		"one without a room":    {func(r *v1beta1.StepResult) { r.Histogram = "" }, 0},
		"one without an answer": {func(r *v1beta1.StepResult) { r.Histogram, r.ResponseTime = "", nil }, 100},
	} {
		sum, err := results.Sum(of(10, whole), of(900, tc.other))
		must.Succeed(t, err)
		samples := int64(0)
		if sum.ResponseTime != nil {
			samples = sum.ResponseTime.Samples
		}
		if samples != tc.samples || sum.Sent != 200 {
			t.Errorf("%s: the times of %d of %d requests, want %d", name, samples, sum.Sent, tc.samples)
		}
	}
}
