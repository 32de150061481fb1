package results

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// streams are the events of the responses to the requests of a part; nil: none came in parts.
func streams(spec *v1beta1.LoadTestSpec, r *measure.Request, window time.Duration) *v1beta1.StreamsResult {
	s := r.Streams
	if s == nil {
		return nil
	}
	result := &v1beta1.StreamsResult{
		Events: s.Events, EventsPerSecond: perSecond(v1beta1.MetricEventsPerSecond, r, 0, window),
		Tokens: tokens(r, window), OnTime: streamsOnTime(spec, s),
	}
	for _, t := range metric.StreamTimes() {
		*t.Field(result) = eventTimes(s.Times[t.Measured])
	}
	return result
}

// tokens are nil if no stream said how many it had.
func tokens(r *measure.Request, window time.Duration) *v1beta1.TokensResult {
	s := r.Streams
	if s.Tokened == 0 {
		return nil
	}
	return &v1beta1.TokensResult{
		Streams: s.Tokened, Input: s.InputTokens, Output: s.OutputTokens, OutputPerSecond: perSecond(v1beta1.MetricOutputTokensPerSecond, r, 0, window),
	}
}

// streamsOnTime is how many streams kept each goal of the thresholds; nil if the workers did not count them.
func streamsOnTime(spec *v1beta1.LoadTestSpec, s *measure.Streams) (list []v1beta1.StreamsOnTime) {
	goals := plan.StreamGoals(spec)
	if len(s.OnTime) != len(goals) {
		return nil
	}
	for i, g := range goals {
		count := v1beta1.StreamsOnTime{Within: orNil(g.Within), FirstEvent: orNil(g.FirstEvent), MeanGap: orNil(g.MeanGap), Requests: s.OnTime[i]}
		if s.IdealOnTime[i] != s.OnTime[i] {
			count.WithoutGenerator = &s.IdealOnTime[i]
		}
		list = append(list, count)
	}
	return list
}

// orNil is nil for 0.
func orNil(d time.Duration) *metav1.Duration {
	if d == 0 {
		return nil
	}
	return &metav1.Duration{Duration: d}
}

// eventTimes are nil without a time.
func eventTimes(h *measure.Histogram) *v1beta1.EventTimes {
	l := latency(h)
	if l == nil {
		return nil
	}
	return &v1beta1.EventTimes{Samples: l.Samples, Mean: l.Mean, P50: l.P50, P95: l.P95, P99: l.P99, Longest: l.Longest}
}
