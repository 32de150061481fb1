package verdict_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// streaming has the responses to create come in parts: n first events took so long, measured and with a
// perfect generator, and so did each longest and mean time between the ten events that each brought.
func streaming(n int64, measured, ideal time.Duration) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		if r.Streams == nil {
			r.Streams = measure.NewStreams()
		}
		r.Streams.Events += 10 * n
		r.Streams.InWindow += 10 * n
		for range n {
			r.Streams.Record(measure.FirstEvent, measured, ideal)
			r.Streams.Record(measure.LongestGap, measured, ideal)
			r.Streams.Record(measure.MeanGap, measured, ideal)
			for range 9 {
				r.Streams.Record(measure.BetweenEvents, measured, ideal)
			}
		}
	}
}

// ended adds n requests create that were due, and sent, and ended so.
func ended(n int64, as measure.Outcome) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.Sent += n
		r.Due += n
		o.merged.Due += n
		r.Outcomes[as] += n
		if as != measure.Unfinished {
			r.Response.RecordN(ms, n) // fast
		}
	}
}

func ofStreams(time v1beta1.LatencyTime, t v1beta1.Threshold) v1beta1.Threshold {
	t.Time = time
	return t
}

// stream makes the responses to create streams.
func stream(s *v1beta1.LoadTestSpec) {
	s.Requests[0].HTTP.Stream = &v1beta1.Stream{Events: v1beta1.StreamSSE}
}

const noFirstEvent = " It counts 10 requests that failed before a first event, each as if it had waited for its timeout."

func TestTimesOfStreams(t *testing.T) {
	first := ofStreams(v1beta1.FirstEventTime, atMost("p95", "500ms"))
	ofChat := first
	ofChat.Requests = []string{"create"}
	half := ofStreams(v1beta1.FirstEventTime, atMost("p50", "500ms"))
	gap := func(metric v1beta1.Metric, limit string) v1beta1.Threshold {
		return ofStreams(v1beta1.LongestGapTime, atMost(metric, limit))
	}
	judgeComplete(t, stream, map[string]oneStep{
		"a first event in time":  {ofChat, sent(100, 900, streaming(100, 400*ms, 400*ms)), passed, "400.127ms", ""},
		"a first event too late": {ofChat, sent(100, 900, streaming(94, 400*ms, 400*ms), streaming(6, 612*ms, 612*ms)), broken, "612.351ms", ""},
		"one by the generator's delay": {
			first, sent(100, 900, streaming(100, 612*ms, 400*ms)), inconclusive, "612.351ms",
			"p95 of the time to the first event is between 400.127ms and 612.351ms in step burst; at most 500ms is allowed. Without the generator's own delay it is 400.127ms.",
		},
		"one whatever the generator did": {first, sent(100, 900, streaming(100, 800*ms, 600*ms)), broken, "800.255ms",
			"p95 of the time to the first event is 800.255ms in step burst (600.063ms without the generator's own delay); at most 500ms is allowed."},
		"other requests are no streams": {first, sent(100, 90_000, streaming(94, 400*ms, 400*ms), streaming(6, 612*ms, 612*ms)), broken, "612.351ms", ""},
		"no event came":                 {first, sent(100, 900), inconclusive, "", "p95 of the time to the first event of step burst has 0 samples; at least 20 are needed."},
		"too few first events": {
			first, sent(19, 900, streaming(19, 400*ms, 400*ms)), inconclusive, "", "p95 of the time to the first event of step burst has 19 samples; at least 20 are needed.",
		},

		// What has no first event must not make the target look fast.
		"refused":                        {first, sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Refused)), broken, "30.015487s", noFirstEvent},
		"reset":                          {first, sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Reset)), broken, "30.015487s", noFirstEvent},
		"ended without any event":        {first, sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.EndedEarly)), broken, "30.015487s", noFirstEvent},
		"fewer than the quantile leaves": {first, sent(96, 0, streaming(96, 400*ms, 400*ms), ended(4, measure.Refused)), passed, "400.127ms", ""},
		"refused, where a longer time than any is allowed": {
			ofStreams(v1beta1.FirstEventTime, atMost("p95", "60s")), sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Refused)), inconclusive, "30.015487s",
			"p95 of the time to the first event of step burst leaves out 10 requests that had no first event.",
		},
		"a mean is of what had one":    {ofStreams(v1beta1.FirstEventTime, atMost("mean", "500ms")), sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Refused)), passed, "400ms", ""},
		"broken off after an event":    {first, sent(90, 0, streaming(100, 400*ms, 400*ms), ended(10, measure.BrokenOff)), passed, "400.127ms", ""},
		"answered with another status": {first, sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.ServerError)), passed, "400.127ms", ""},
		"answered with another success, after an event": {
			first, sent(80, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.UnexpectedStatus), func(o *outcome) {
				o.merged.Requests[0].StatusCodes = measure.StatusCodes{200: 80, 206: 10}
			}, ended(10, measure.Refused)), broken, "30.015487s",
			noFirstEvent,
		},
		"refused, where others failed after an event": {
			first, sent(70, 0, streaming(90, 400*ms, 400*ms), ended(20, measure.ServerError), ended(10, measure.Refused)), broken, "30.015487s",
			noFirstEvent,
		},
		"no event until the end":   {first, sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Unfinished)), broken, "30.015487s", waited(10, noAnswer)},
		"unfinished with an event": {first, sent(90, 0, streaming(100, 400*ms, 400*ms), ended(10, measure.Unfinished)), passed, "400.127ms", ""},
		"no event yet, for less than the timeout": {half, sent(49, 0, streaming(49, 400*ms, 400*ms), undecided(51)), inconclusive, "400.127ms",
			undecidedIn("p50 of the time to the first event of step burst", 51)},
		"never sent": {ofChat, sent(900, 0, streaming(900, 400*ms, 400*ms), unsentOf(1_000, 0)), broken, "815.103ms", waited(1000, unsentOnes)},
		"never sent, by the generator": {
			ofChat, sent(900, 0, streaming(900, 400*ms, 400*ms), unsentOf(1_000, 1_000)), inconclusive, "815.103ms",
			"p95 of the time to the first event of create is between 400.127ms and 815.103ms in step burst; at most 500ms is allowed. Without the generator's own delay it is 400.127ms.",
		},

		// Times between events are of those that came.
		"gaps":                 {gap("p95", "500ms"), sent(100, 900, streaming(100, 612*ms, 612*ms)), broken, "612.351ms", ""},
		"the mean of the gaps": {ofStreams(v1beta1.MeanGapTime, atMost("p95", "500ms")), sent(100, 900, streaming(100, 400*ms, 400*ms)), passed, "400.127ms", ""},
		"each gap":             {ofStreams(v1beta1.BetweenEventsTime, atMost("p99.9", "500ms")), sent(112, 0, streaming(112, 400*ms, 400*ms)), passed, "400.127ms", ""},
		"streams that had not ended": {gap("p95", "500ms"), sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Unfinished)), inconclusive, "400.127ms",
			"p95 of the longest time between events of step burst leaves out 10 streams that had not ended when the step did."},
		"so few that they decide nothing": {gap("p95", "500ms"), sent(97, 0, streaming(97, 400*ms, 400*ms), ended(3, measure.Unfinished)), passed, "400.127ms", ""},
		"a longest gap that may yet be longer": {
			gap("longest", "500ms"), sent(99, 0, streaming(99, 400*ms, 400*ms), ended(1, measure.Unfinished)), inconclusive, "400.127ms",
			"longest of the longest time between events of step burst leaves out 1 streams that had not ended when the step did.",
		},
		"enough without them":          {gap("longest", "500ms"), sent(99, 0, streaming(99, 612*ms, 612*ms), ended(1, measure.Unfinished)), broken, "612.351ms", ""},
		"a refused request has no gap": {gap("p95", "500ms"), sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Refused)), passed, "400.127ms", ""},

		// Events, which came in a window of 10 s.
		"as many events as are required": {atLeast("eventsPerSecond", "100"), sent(100, 900, streaming(100, ms, ms)), passed, "100", ""},
		"fewer events":                   {onRequest(atLeast("eventsPerSecond", "100"), "create"), sent(99, 900, streaming(99, ms, ms)), broken, "99", ""},
		"fewer events, of requests that the generator did not send": {
			atLeast("eventsPerSecond", "100"), sent(90, 900, streaming(90, ms, ms), unsentOf(10, 10)), inconclusive, "90",
			"eventsPerSecond is between 90 and 100 in step burst; at least 100 is required. Without the generator's own delay it is 100.",
		},
		"none at all": {atLeast("eventsPerSecond", "100"), sent(99, 900), broken, "0", ""},
	})
}

// What the generator lacks is not the target's doing.
func TestFirstEventsThatTheGeneratorDidNotLetCome(t *testing.T) {
	exhausted := func(o *outcome) { o.merged.Health.PortsExhausted = 10 }
	judgeComplete(t, stream, map[string]oneStep{
		"ports": {
			ofStreams(v1beta1.FirstEventTime, atMost("p95", "500ms")), sent(90, 0, streaming(90, 400*ms, 400*ms), ended(10, measure.Other), exhausted), inconclusive, "30.015487s",
			"p95 of the time to the first event is between 400.127ms and 30.015487s in step burst; at most 500ms is allowed. Without the generator's own delay it is 400.127ms.",
		},
	})
}

// Of a call, the workers alone know whether its method returns a stream.
func TestCallsWithOneReplyAreNoStreams(t *testing.T) {
	calls := func(s *v1beta1.LoadTestSpec) {
		s.Requests[0].HTTP, s.Requests[0].GRPC = nil, &v1beta1.Call{Method: "a.B/Watch"}
		s.Requests[1].GRPC, s.Requests[1].Weight = &v1beta1.Call{Method: "a.B/Get"}, ptr(int32(1))
	}
	refusedGets := func(o *outcome) {
		r := &o.merged.Requests[1]
		r.Sent, r.Outcomes[measure.Refused] = r.Sent+50, 50
	}
	judgeComplete(t, calls, map[string]oneStep{
		"first events": {ofStreams(v1beta1.FirstEventTime, atMost("p95", "500ms")), sent(100, 1, streaming(100, 400*ms, 400*ms), refusedGets), passed, "400.127ms", ""},
		"no reply came": {ofStreams(v1beta1.FirstEventTime, atMost("p95", "500ms")), sent(100, 1), inconclusive, "",
			"p95 of the time to the first event of step burst cannot be judged: no response came in parts."},
	})
}
