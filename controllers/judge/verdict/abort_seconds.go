package verdict

import (
	"maps"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// lastingSeconds is for how many seconds, one after another, a threshold must have
	// been breached where it is not known what the rest of the step could mend. A pause
	// of the target's runtime, a failover or a cold cache takes less.
	lastingSeconds = 10
	// second is how far each worker must have gone on for another second to be judged,
	// a little less than the time between two of its reports.
	second = 900 * time.Millisecond
	// credit is the most that counts of what is judged at once: what comes after a
	// silence is one look, however long it was.
	credit = 2 * time.Second
)

// Seconds is what is remembered, from one look at a running step to the next, for thresholds of which it is not
// known how much more they may be about. It need not be stored: with none, the seconds are counted anew.
type Seconds struct {
	// requests are those that ended in a second, events the first events and the times between events that came in it.
	requests, events seconds
}

// seconds are what is remembered of the seconds of a step, to judge the requests, or the events, that each had.
type seconds struct {
	step     string
	last     *measure.Measurement // up to the second that was judged last
	shortest time.Duration
	latest   *measure.Measurement // what ended in it; nil: nothing new was judged
	// breaches is for how long each threshold has been breached, by its index.
	breaches map[int]time.Duration
}

// next is what is remembered after another look. It keeps no measurement of a step whose
// end is known to be decided by numbers.
func (s Seconds) next(spec *v1beta1.LoadTestSpec, live Live) (after Seconds) {
	ofRequests, ofEvents := false, map[v1beta1.LatencyTime]bool{}
	for i := range spec.Thresholds {
		switch t := &spec.Thresholds[i]; after.of(t, live.Step) {
		case &after.requests:
			ofRequests = true
		case &after.events:
			ofEvents[t.Time] = true
		}
	}
	if ofRequests {
		after.requests = s.requests.next(live, func(m *measure.Measurement) bool { return m.Due >= leastEnded })
	}
	if len(ofEvents) > 0 {
		after.events = s.events.next(live, func(m *measure.Measurement) bool {
			for name := range ofEvents {
				if countOf(m, name) < leastEnded {
					return false
				}
			}
			return true
		})
	}
	return after
}

// of are the seconds by which a threshold is judged; nil: by none.
func (s *Seconds) of(t *v1beta1.Threshold, step *v1beta1.StepStatus) *seconds {
	_, known := plan.MostRequests(&step.Load)
	switch {
	case t.OnBreach != v1beta1.BreachAbort || known && t.Time != v1beta1.BetweenEventsTime:
		return nil
	case t.Time == v1beta1.FirstEventTime || t.Time == v1beta1.BetweenEventsTime:
		return &s.events // they come before their stream ends
	}
	return &s.requests
}

// countOf is how many there are of a time of streams.
func countOf(m *measure.Measurement, name v1beta1.LatencyTime) (n int64) {
	t, _ := metric.StreamTimeOf(name)
	for _, list := range [][]measure.Request{m.Requests, m.Grouped} {
		for i := range list {
			if streams := list[i].Streams; streams != nil {
				n += streams.Times[t.Measured].Count()
			}
		}
	}
	return n
}

// next is what is remembered after another look; enough says whether a second has as many as can be judged.
func (s seconds) next(live Live, enough func(*measure.Measurement) bool) seconds {
	fresh := seconds{step: live.Step.Name, last: live.Merged, shortest: live.Shortest}
	switch {
	case s.step != live.Step.Name:
		if !live.All {
			return seconds{}
		}
		return fresh
	case !live.All || live.Shortest < s.shortest+second:
		s.latest = nil
		return s
	}
	latest, err := live.Merged.EndedSince(s.last)
	switch {
	case err != nil || latest.Window <= 0:
		return fresh // counts that fall: another process had more
	case !enough(latest):
		s.latest = nil
		return s // with what comes next, there are enough
	}
	fresh.latest, fresh.breaches = latest, maps.Clone(s.breaches)
	return fresh
}

// breached says whether a threshold has been breached for as long as it takes to abort,
// and counts the second that was judged last.
func (s *Seconds) breached(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus, n int, live *Live) bool {
	of := s.of(&spec.Thresholds[n], live.Step)
	if of == nil || of.latest == nil {
		return false
	}
	sample, err := newSample(spec, requests, &spec.Thresholds[n], live.Step, of.latest)
	if err != nil {
		return false
	}
	switch state := sample.judgeSecond(); state {
	case v1beta1.ThresholdPassed:
		delete(of.breaches, n)
		return false
	case v1beta1.ThresholdInconclusive:
		return false
	}
	if of.breaches == nil {
		of.breaches = map[int]time.Duration{}
	}
	of.breaches[n] += min(of.latest.Window, credit)
	return of.breaches[n] >= lastingSeconds*time.Second
}

// judgeSecond judges what ended in a second. Of a time of streams it judges what was measured: a stream whose first
// event came in a second may end in another.
func (s sample) judgeSecond() v1beta1.ThresholdState {
	if !s.threshold.Time.IsOfStreams() {
		state, _ := s.judgeValue()
		return state
	}
	measured, ok := s.eventTimes()
	ideal, _ := s.idealEventTimes()
	b, err := newBound(s.threshold)
	from := s.metric.Times()
	if !ok || err != nil || min(measured.Count(), ideal.Count()) < from.Needed() {
		return v1beta1.ThresholdInconclusive
	}
	return decide(s, b, between(metric.Micros(from.Of(measured)), metric.Micros(from.Of(ideal)))).state
}
