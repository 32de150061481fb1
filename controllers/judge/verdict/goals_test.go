package verdict_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// keeping has so many streams keep the goal, and so many with a perfect generator.
func keeping(n, ideally int64) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		if r.Streams == nil {
			r.Streams = measure.NewStreams()
		}
		r.Streams.OnTime, r.Streams.IdealOnTime = []int64{n}, []int64{ideally}
	}
}

// eachDue has all requests counted as due by request.
func eachDue(o *outcome) {
	for i := range o.merged.Requests {
		r := &o.merged.Requests[i]
		r.Due = r.Sent
	}
}

func TestShareOfStreamsThatKeepAGoal(t *testing.T) {
	goal := atLeast(v1beta1.MetricOnTimeRate, "95%")
	goal.FirstEvent, goal.MeanGap = &metav1.Duration{Duration: 500 * time.Millisecond}, &metav1.Duration{Duration: 50 * time.Millisecond}
	most := goal
	most.Min, most.Max = nil, atMost(v1beta1.MetricOnTimeRate, "95%").Max
	const what = "onTimeRate with the first event within 500ms and a mean time between events within 50ms"
	judgeComplete(t, stream, map[string]oneStep{
		"kept":                          {goal, sent(100, 0, keeping(96, 96), eachDue), passed, "96%", what + " is 96% in step burst; at least 95% is required."},
		"breached":                      {goal, sent(100, 0, keeping(90, 90), eachDue), broken, "90%", what + " is 90% in step burst; at least 95% is required."},
		"by the generator's delay":      {goal, sent(100, 0, keeping(90, 96), eachDue), inconclusive, "90%", what + " is between 90% and 96% in step burst; at least 95% is required. Without the generator's own delay it is 96%."},
		"other requests are no streams": {goal, sent(100, 900, keeping(96, 96), eachDue), passed, "96%", what + " is 96% in step burst; at least 95% is required."},
		"no event came":                 {goal, sent(100, 0, eachDue), broken, "0%", what + " is 0% in step burst; at least 95% is required."},
		"no stream succeeded": {
			goal, sent(0, 0, streaming(10, ms, ms), ended(100, measure.BrokenOff)), broken, "0%", what + " is 0% in step burst; at least 95% is required.",
		},
		"failures are not on time": {
			goal, sent(90, 0, keeping(90, 90), eachDue, ended(10, measure.Stalled)), broken, "90%", what + " is 90% in step burst; at least 95% is required.",
		},
		"unsent ones are not on time": {goal, sent(90, 0, keeping(90, 90), unsentOf(10, 0)), broken, "90%", what + " is 90% in step burst; at least 95% is required."},
		"unsent ones by the generator": {
			goal, sent(90, 0, keeping(90, 90), unsentOf(10, 10)), inconclusive, "90%", what + " is between 90% and 100% in step burst; at least 95% is required. Without the generator's own delay it is 100%.",
		},
		"undecided ones may be": {
			goal, sent(90, 0, keeping(90, 90), eachDue, undecided(10)), inconclusive, "90%", what + " is between 90% and 100% in step burst; at least 95% is required. " + what + undecidedIn(" of step burst", 10),
		},
		"undecided ones beyond a maximum": {most, sent(90, 0, keeping(90, 90), eachDue, undecided(10)), inconclusive, "90%", what + undecidedIn(" of step burst", 10)},
		"kept without the undecided ones": {
			goal, sent(96, 0, keeping(96, 96), eachDue, undecided(4)), passed, "96%", what + " is 96% in step burst; at least 95% is required.",
		},
	})
}
