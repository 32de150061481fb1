package results

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// streams are the events of the responses to the requests of a part; nil: none came in parts.
func streams(r *measure.Request, window time.Duration) *v1beta1.StreamsResult {
	s := r.Streams
	if s == nil {
		return nil
	}
	return &v1beta1.StreamsResult{
		Events:          s.Events,
		EventsPerSecond: perSecond(v1beta1.MetricEventsPerSecond, r, 0, window),
		FirstEvent:      eventTimes(s.Times[measure.FirstEvent]),
		BetweenEvents:   eventTimes(s.Times[measure.BetweenEvents]),
		LongestGap:      eventTimes(s.Times[measure.LongestGap]),
		MeanGap:         eventTimes(s.Times[measure.MeanGap]),
	}
}

// eventTimes are nil without a time.
func eventTimes(h *measure.Histogram) *v1beta1.EventTimes {
	l := latency(h)
	if l == nil {
		return nil
	}
	return &v1beta1.EventTimes{Samples: l.Samples, Mean: l.Mean, P50: l.P50, P95: l.P95, P99: l.P99, Longest: l.Longest}
}
