package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// A target of 10,000 arrivals a second is silent for 18 of 24 hours: what 200,000 requests
// waited for together, until their timeout of 20 s, is more than a Duration holds.
func TestDowntimeOfALargeLoadForADay(t *testing.T) {
	m := measure.NewMeasurement(1)
	m.Window, m.Due, m.Timeline = 24*time.Hour, 864_000_000, &measure.Timeline{}
	r := &m.Requests[0]
	r.Sent, r.Expected = m.Due, m.Due/4
	r.Outcomes[measure.Success], r.Outcomes[measure.Timeout] = m.Due/4, m.Due/4*3
	for _, h := range []*measure.Histogram{r.Response, r.Service} {
		h.RecordN(10*ms, m.Due/4)
		h.RecordN(20*time.Second, m.Due/4*3)
	}
	for i := range m.Timeline.Outstanding {
		m.Timeline.Outstanding[i] = 200_000
		if i < measure.TimelineSlots/4 {
			m.Timeline.Outstanding[i], m.Timeline.Answered[i] = 100, m.Due/measure.TimelineSlots
		}
	}
	step := loading("10000/s", v1beta1.StepLoad{Rate: decimal("10000"), Duration: d(m.Window), Requests: m.Due})
	if got, ok := results.DowntimeOf(&step.Load, m); !ok || got.Least != 18*time.Hour {
		t.Errorf("down for %v (known %v), want 18h", got.Least, ok)
	}
}
