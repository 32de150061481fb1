package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// stream records a response of three events.
func stream(r *measure.Request, first, gap time.Duration) {
	if r.Streams == nil {
		r.Streams = measure.NewStreams()
	}
	record(r, 1, measure.Success, first+2*gap)
	r.Streams.Events, r.Streams.InWindow = r.Streams.Events+3, r.Streams.InWindow+2
	r.Streams.Record(measure.FirstEvent, first, first)
	r.Streams.Record(measure.BetweenEvents, gap, gap)
	r.Streams.Record(measure.BetweenEvents, gap, gap)
	r.Streams.Record(measure.LongestGap, gap, gap)
	r.Streams.Record(measure.MeanGap, gap, gap)
}

func TestEventsOfStreams(t *testing.T) {
	lt, merged := mix(), measure.NewMeasurement(4)
	merged.Window = 3 * time.Second
	stream(&merged.Requests[0], 100*ms, 10*ms)
	stream(&merged.Requests[0], 200*ms, 20*ms)
	stream(&merged.Requests[2], 400*ms, 40*ms)
	merged.Requests[3].Streams = measure.NewStreams() // it has none yet
	record(&merged.Requests[1], 1, measure.Success, ms)
	got := stepResult(t, lt, closed, merged)
	of := func(samples int64, mean time.Duration, p50, longest time.Duration) *v1beta1.EventTimes {
		times := &v1beta1.EventTimes{Samples: samples, Mean: d(mean), Longest: d(longest)}
		if p50 > 0 {
			times.P50 = d(p50)
		}
		return times
	}
	const us = time.Microsecond
	create := &v1beta1.StreamsResult{
		Events: 6, EventsPerSecond: "1.333333",
		FirstEvent:    of(2, got.Requests[0].Streams.FirstEvent.Mean.Duration, 100031*us, 200063*us),
		BetweenEvents: of(4, got.Requests[0].Streams.BetweenEvents.Mean.Duration, 10007*us, 20015*us),
		LongestGap:    of(2, got.Requests[0].Streams.LongestGap.Mean.Duration, 10007*us, 20015*us),
		MeanGap:       of(2, got.Requests[0].Streams.MeanGap.Mean.Duration, 10007*us, 20015*us),
	}
	same.As(t, "streams of create", create, got.Requests[0].Streams)
	same.As(t, "streams of follow", (*v1beta1.StreamsResult)(nil), got.Requests[1].Streams)
	same.As(t, "streams of count", &v1beta1.StreamsResult{EventsPerSecond: "0.0"}, got.Requests[3].Streams)
	if s := got.Streams; s == nil || s.Events != 9 || s.EventsPerSecond != "2.0" || s.FirstEvent.Samples != 3 || s.FirstEvent.Longest.Duration != 400127*us {
		t.Errorf("streams of all: %+v", s)
	}
	if write, read := got.Types[0].Streams, got.Types[1].Streams; write == nil || write.Events != 9 || read != nil {
		t.Errorf("streams by type: %+v and %+v", write, read)
	}
	results.CountsAlone(got)
	if got.Requests[0].Streams != nil || got.Streams == nil {
		t.Errorf("while the step runs: of a request %+v, of all %+v", got.Requests[0].Streams, got.Streams)
	}
}
