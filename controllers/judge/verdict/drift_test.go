package verdict_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// growingBy has, in 200 s, one more request outstanding after each of the slots of 1 s, times n.
func growingBy(n int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Window, o.merged.Timeline = 200*time.Second, &measure.Timeline{}
		for i := range o.merged.Timeline.Outstanding {
			o.merged.Timeline.Outstanding[i] = 5 + n*int64(i)
		}
	}
}

// backlog has one more of them unsent after each slot.
func backlog(o *outcome) {
	for i := range o.merged.Timeline.Unsent {
		o.merged.Timeline.Unsent[i] = int64(i)
	}
}

func TestDrift(t *testing.T) {
	long := &metav1.Duration{Duration: 200 * time.Second}
	rate := v1beta1.StepLoad{Rate: ptr(v1beta1.NewDecimal("5")), Duration: long}
	for name, tc := range map[string]struct {
		load     v1beta1.StepLoad
		measured outcome
		state    v1beta1.ThresholdState
		observed string
		message  string
	}{
		"steady":                            {rate, sent(1000, 0, growingBy(0)), passed, "0", "drift is 0 in step soak; at most 0.5 is allowed."},
		"falling":                           {rate, sent(1000, 0, growingBy(-1)), passed, "0", "drift is 0 in step soak; at most 0.5 is allowed."},
		"growing":                           {rate, sent(1000, 0, growingBy(2)), broken, "2", "Outstanding requests grew by 2/s in step soak (drift; at most 0.5 is allowed)."},
		"withheld":                          {rate, sent(1000, 0, growingBy(1), backlog, unsentOf(200, 150)), inconclusive, "1", "drift is between 0.3 and 1 in step soak; at most 0.5 is allowed. Without the generator's own delay it is 0.3."},
		"sent late":                         {rate, sent(1000, 0, growingBy(1), backlog), inconclusive, "1", "drift is between 0 and 1 in step soak; at most 0.5 is allowed. Without the generator's own delay it is 0."},
		"sent late, and growing without it": {rate, sent(1000, 0, growingBy(2), backlog), broken, "2", "drift is 2 in step soak (1 without the generator's own delay); at most 0.5 is allowed."},
		"users without a rate": {v1beta1.StepLoad{Users: 5, Duration: long}, sent(1000, 0, growingBy(2)), inconclusive, "",
			"drift of step soak cannot be judged. Users without a rate wait for each response before they send again, so nothing can pile up."},
		"a ramp": {v1beta1.StepLoad{Rate: rate.Rate, RampTo: ptr(v1beta1.NewDecimal("9")), Duration: long}, sent(1000, 0, growingBy(2)), inconclusive, "",
			"drift of step soak cannot be judged. The load of a ramp changes, and so does the number of outstanding requests."},
		"not reported": {rate, sent(1000, 0, withoutCourse), inconclusive, "", "drift of step soak cannot be judged. A worker did not report the timeline of the step."},
		"too few":      {rate, sent(19, 0, growingBy(2)), inconclusive, "", "drift of step soak cannot be judged. There were too few requests to tell."},
	} {
		t.Run(name, func(t *testing.T) {
			step := v1beta1.StepStatus{Name: "soak", State: v1beta1.StepComplete, Load: tc.load}
			got := judge(spec(atMost("drift", "0.5")), nil, step, tc.measured).Thresholds[0]
			if got.State != tc.state || got.Observed != tc.observed || got.Message != tc.message {
				t.Errorf("%s, %q: %s\nwant %s, %q: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, tc.message)
			}
		})
	}
}

// In 6 h, one more after each of 200 slots is less than one in 100 s, and two are more.
func TestDriftOfASoak(t *testing.T) {
	soak := v1beta1.StepStatus{Name: "soak", State: v1beta1.StepComplete, Load: v1beta1.StepLoad{
		Rate: ptr(v1beta1.NewDecimal("5")), Duration: &metav1.Duration{Duration: 6 * time.Hour},
	}}
	for n, want := range map[int64]string{
		1: "Passed: Outstanding requests grew by 0.01/s in step soak (drift; at most 0.01 is allowed).",
		2: "Failed: Outstanding requests grew by 0.02/s in step soak (drift; at most 0.01 is allowed).",
	} {
		o := sent(1000, 0, growingBy(n))
		o.merged.Window = 6 * time.Hour
		got := judge(spec(atMost("drift", "0.01")), nil, soak, o).Thresholds[0]
		if text := string(got.State) + ": " + got.Message; text != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}
