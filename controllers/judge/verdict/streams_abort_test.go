package verdict_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// keptGoal has so many of the streams of create keep the only goal, measured and with a perfect generator.
func keptGoal(n, ideally int64) func(*outcome) {
	return func(o *outcome) {
		s := o.merged.Requests[0].Streams
		s.OnTime, s.IdealOnTime = []int64{n}, []int64{ideally}
	}
}

// Of 1000 requests that are planned, 950 must keep a p95. All but create are sent already.
func TestAbortsWhatStreamsCannotMend(t *testing.T) {
	first := ofStreams(v1beta1.FirstEventTime, atMost("p95", "500ms"))
	goal := atLeast("onTimeRate", "95%")
	goal.FirstEvent = &metav1.Duration{Duration: 500 * ms}
	seldom := goal
	seldom.Min, seldom.Max = nil, atMost("onTimeRate", "5%").Max
	slowly := atLeast("p5", "500ms")
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		measured  outcome
		want      string
	}{
		"as many late first events as are allowed": {first, sent(60, 0, streaming(10, 400*ms, 400*ms), streaming(50, 600*ms, 600*ms)), ""},
		"one more":                          {first, sent(60, 0, streaming(9, 400*ms, 400*ms), streaming(51, 600*ms, 600*ms)), noLess("p95 of the time to the first event", "600.063ms", "500ms")},
		"one more by the generator's delay": {first, sent(60, 0, streaming(9, 400*ms, 400*ms), streaming(51, 600*ms, 400*ms)), ""},
		"fewer than can be judged":          {first, sent(19, 0, streaming(19, 600*ms, 600*ms)), ""},
		"other requests are no streams":     {first, sent(10, 900), ""},
		"first events that must be late":    {ofStreams(v1beta1.FirstEventTime, slowly), sent(49, 0, streaming(49, 400*ms, 400*ms)), ""},
		"one more is early": {ofStreams(v1beta1.FirstEventTime, slowly), sent(50, 0, streaming(50, 400*ms, 400*ms)),
			noMore("p5 of the time to the first event", "400.127ms", "500ms")},
		"longest times between events of 51 streams": {ofStreams(v1beta1.LongestGapTime, atMost("p95", "500ms")), sent(60, 0, streaming(51, 600*ms, 600*ms)),
			noLess("p95 of the longest time between events", "600.063ms", "500ms")},
		"mean times between events of 51 streams": {ofStreams(v1beta1.MeanGapTime, atMost("p95", "500ms")), sent(60, 0, streaming(51, 600*ms, 600*ms)),
			noLess("p95 of the mean time between events", "600.063ms", "500ms")},
		"times between events, of which any number may come": {ofStreams(v1beta1.BetweenEventsTime, atMost("p95", "500ms")), sent(60, 0, streaming(60, 600*ms, 600*ms)), ""},
		"the longest of them": {ofStreams(v1beta1.BetweenEventsTime, atMost("longest", "500ms")), sent(60, 0, streaming(60, 600*ms, 600*ms)),
			noLess("longest of the time between events", "600.063ms", "500ms")},
		"as many streams as may miss a goal":          {goal, sent(60, 0, streaming(60, 600*ms, 600*ms), keptGoal(10, 10)), ""},
		"one more misses it":                          {goal, sent(60, 0, streaming(60, 600*ms, 600*ms), keptGoal(9, 9)), noMore("onTimeRate with the first event within 500ms", "94.9%", "95%")},
		"one more misses it by the generator's delay": {goal, sent(60, 0, streaming(60, 600*ms, 600*ms), keptGoal(9, 10)), ""},
		"no stream has kept a goal yet":               {goal, sent(40, 0, streaming(40, 600*ms, 600*ms)), ""},
		"as many streams as may keep a goal":          {seldom, sent(60, 0, streaming(60, 600*ms, 600*ms), keptGoal(50, 50)), ""},
		"one more keeps it":                           {seldom, sent(60, 0, streaming(60, 600*ms, 600*ms), keptGoal(51, 51)), noLess("onTimeRate with the first event within 500ms", "5.1%", "5%")},
	} {
		t.Run(name, func(t *testing.T) {
			dueAsSent(&tc.measured)
			got := ""
			if breach := look(tc.threshold, planned(), tc.measured, stream); breach != nil {
				got = breach.Message
			}
			same.As(t, "message", tc.want, got)
		})
	}
}

// Streams that do not end abort a step by their events, once these were late for ten seconds after the grace of five.
func TestEventsThatAreLateForLongAbort(t *testing.T) {
	const late, early = 600 * ms, 400 * ms
	within := func(time v1beta1.LatencyTime) v1beta1.Threshold { return ofStreams(time, atMost("p50", "500ms")) }
	plannedStep := planned()
	plannedStep.Load.Requests = 1_000_000
	always := func(int) bool { return true }
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		step      v1beta1.StepStatus
		streams   int // that begin in each second, with five times between events
		ideal     time.Duration
		bad       func(look int) bool
		want      int
	}{
		"first events of users":                           {within(v1beta1.FirstEventTime), users(10), 100, late, always, 14},
		"times between events of users":                   {within(v1beta1.BetweenEventsTime), users(10), 100, late, always, 14},
		"times between events of a plan":                  {within(v1beta1.BetweenEventsTime), plannedStep, 100, late, always, 14},
		"first events of a plan, which may yet be mended": {within(v1beta1.FirstEventTime), plannedStep, 100, late, always, 0},
		"every other second":                              {within(v1beta1.BetweenEventsTime), users(10), 100, late, func(look int) bool { return look%2 == 0 }, 0},
		"by the generator's delay":                        {within(v1beta1.BetweenEventsTime), users(10), 100, early, always, 0},
		"not for long":                                    {within(v1beta1.BetweenEventsTime), users(10), 100, late, func(look int) bool { return look > 51 }, 0},
		"for long enough":                                 {within(v1beta1.BetweenEventsTime), users(10), 1000, late, func(look int) bool { return look > 1 }, 14},
		"too few in a second, enough in two":              {within(v1beta1.FirstEventTime), users(10), 19, late, always, 13},
		"longest times of streams that do not end":        {within(v1beta1.LongestGapTime), users(10), 100, late, always, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.threshold)
			stream(s)
			aborted := abortedAfter(t, s, tc.step, 60, time.Second, func(look int, m *measure.Measurement) {
				measured, ideal := early, early
				if tc.bad(look) {
					measured, ideal = late, tc.ideal
				}
				begun := measure.NewStreams()
				for range tc.streams {
					begun.Events += 6
					begun.Record(measure.FirstEvent, measured, ideal)
					for range 5 {
						begun.Record(measure.BetweenEvents, measured, ideal)
					}
				}
				r := &m.Requests[0]
				must.Succeed(t, r.AddStreams(begun))
				r.Sent += int64(tc.streams)
				r.Outcomes[measure.Unfinished], r.Due, m.Due = r.Sent, r.Sent, r.Sent
			}, nil)
			same.As(t, "the look after which the step is aborted", tc.want, aborted)
		})
	}
}
