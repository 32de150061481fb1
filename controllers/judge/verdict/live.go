package verdict

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// defaultGrace is for how long at the beginning of a step nothing is aborted: what
	// is late then is often the target's first second.
	defaultGrace = 5 * time.Second
	// leastEnded is how many requests must have ended. Of fewer, one says too much.
	leastEnded = 20
)

// Live is what was measured so far of a step that runs.
type Live struct {
	// Step has the result so far, of which the generator's health is looked at.
	Step *v1beta1.StepStatus
	// Merged is of the workers that have reported, with the mean of their windows.
	Merged *measure.Measurement
	// Shortest is the shortest of their windows.
	Shortest time.Duration
	// All says that every worker has reported, and is connected.
	All bool
	Now time.Time
}

// Abort is the first threshold, in the spec's order, that aborts the step.
//
// Where it is known how many requests may be due in the step, a threshold aborts once
// the step would breach it even if all that is left did well: the final value is decided
// then, so that no healthy step is aborted, whatever one bad second was like. It holds
// of a part of the workers as of all, since what is missing counts as doing well.
//
// Where it is not known, it aborts if the result so far is a breach and the seconds of
// late were, one after another: of users without a rate, and of the times between events,
// since a stream may have any number of them.
func Abort(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, live Live, seconds Seconds) (n int, breach *v1beta1.ThresholdStatus, after Seconds) {
	after = seconds.next(spec, live)
	for n := range spec.Thresholds {
		t := &spec.Thresholds[n]
		if !isWatched(t, status.Steps, &live) {
			continue
		}
		s, err := newSample(spec, status.Requests, t, live.Step, live.Merged)
		if err != nil || s.counted() < leastEnded {
			continue
		}
		message, observed := s.beyondMending(spec, status.Requests)
		if lasts := after.breached(spec, status.Requests, n, &live); message == "" && lasts {
			message, observed = s.breachSoFar()
		}
		if message == "" {
			continue
		}
		b := pending(t)
		now := metav1.NewMicroTime(live.Now)
		b.State, b.Step, b.Observed, b.AbortTime = v1beta1.ThresholdFailed, live.Step.Name, observed, &now
		b.Message = text.Truncate(fmt.Sprintf("%s%s Aborted at %s.", message, s.worst(status.Requests), live.Now.UTC().Format("15:04:05 UTC")), maxMessage)
		return n, &b, after
	}
	return 0, nil, after
}

// isWatched says whether a threshold is to be judged while the step runs, by now.
func isWatched(t *v1beta1.Threshold, steps []v1beta1.StepStatus, live *Live) bool {
	grace := defaultGrace
	if t.Grace != nil {
		grace = t.Grace.Duration
	}
	return t.OnBreach == v1beta1.BreachAbort && !t.IsRelative() && applies(t, steps, live.Step) && live.Merged.Window >= grace
}

// counted is how many requests have ended, or how many of the times of streams there are that the threshold is of.
func (s sample) counted() int64 {
	if s.threshold.Time.IsOfStreams() {
		h, ok := s.eventTimes()
		if !ok {
			return 0
		}
		return h.Count()
	}
	return s.ended()
}

// ended is how many requests have ended.
func (s sample) ended() int64 { return s.request.Sent - s.request.Outcomes[measure.Unfinished] }

// beyondMending says that the step will breach the threshold whatever comes; empty: it
// may not.
func (s sample) beyondMending(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus) (message, observed string) {
	rest, known := s.rest()
	if !known || !s.mend(spec, requests, rest) {
		return "", ""
	}
	state, observed := s.judgeValue()
	if state != v1beta1.ThresholdFailed {
		return "", ""
	}
	b, _ := newBound(s.threshold) // it was read a moment ago
	better := "more"
	if b.isMax {
		better = "less"
	}
	return fmt.Sprintf("%s can no longer be %s than %s in step %s; %s.", subject(s.threshold), better, observed, s.step.Name, b.demand()), observed
}

// breachSoFar is the sentence of a breach that lasts.
func (s sample) breachSoFar() (message, observed string) {
	state, observed := s.judgeValue()
	if state != v1beta1.ThresholdFailed {
		return "", ""
	}
	b, _ := newBound(s.threshold)
	return fmt.Sprintf("%s is %s so far in step %s, and has breached the threshold in each of the last %d seconds that could be judged; %s.",
		subject(s.threshold), observed, s.step.Name, lastingSeconds, b.demand()), observed
}

// judgeValue judges the sample as it would a finished step's.
func (s sample) judgeValue() (state v1beta1.ThresholdState, observed string) {
	b, err := newBound(s.threshold)
	if err != nil {
		return v1beta1.ThresholdInconclusive, ""
	}
	o := s.observe()
	if o.value == nil {
		return v1beta1.ThresholdInconclusive, ""
	}
	return decide(s, b, o).state, b.format(o.value)
}

// rest is how many more requests the threshold is about may end at most: those that are
// due and have not ended, and all that are not due yet. Workers that have not reported
// are among the latter. Where it is not known how many requests are due of each, all
// that are left may be of these.
func (s sample) rest() (n int64, known bool) {
	most, known := plan.MostRequests(&s.step.Load)
	if !known || s.threshold.Time == v1beta1.BetweenEventsTime {
		// What has been cannot be undone: the longest time, or a rate that is above its
		// maximum already. Any rest makes it no better.
		return 0, s.threshold.Max != nil && (s.threshold.Metric == v1beta1.MetricLongest || isRate(s.threshold.Metric))
	}
	if s.merged.KnowsDue() {
		return s.request.Due - s.ended() + most - s.merged.Due, most >= s.merged.Due
	}
	var ended int64
	for i := range s.merged.Requests {
		r := &s.merged.Requests[i]
		ended += r.Sent - r.Outcomes[measure.Unfinished]
	}
	return most - ended, most >= ended
}

func isRate(m v1beta1.Metric) bool { return metric.Of(m).Unit == metric.Rate }

// mend adds so many requests to the sample that keep the threshold, as well as any could:
// answered as expected, at once; or, for a minimum of what is otherwise bad, the worst.
// It is false where no rest can be made up: what a burst's rate is depends on when it
// ends.
func (s *sample) mend(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus, rest int64) bool {
	if isRate(s.threshold.Metric) {
		if s.step.Load.Duration == nil {
			return false // of a burst
		}
		merged := *s.merged
		merged.Window = s.step.Load.Duration.Duration
		s.merged = &merged
		if s.threshold.Max != nil {
			return true // nothing more that is counted
		}
	}
	missed, ok := s.request.Missed(s.within)
	gained := int64(0)
	if ok {
		gained = s.onTimeIdeally() - s.request.OnTime[s.within]
	}
	r := &s.request
	outcome, expected, took := s.wanted(rest)
	if s.threshold.Max != nil {
		missed += rest
	}
	r.Sent = s.ended() + rest
	r.Outcomes[measure.Unfinished] = 0
	r.Outcomes[outcome] += rest
	r.Expected += expected
	r.ExpectedInWindow += rest
	r.CompletedInWindow += rest
	if r.Ideal != nil {
		r.Ideal.RecordN(took, rest)
	}
	r.Response.RecordN(took, rest)
	r.Service.RecordN(took, rest)
	if s.threshold.OfStreams() {
		s.mendStreams(took, rest)
	}
	s.items += rest * mostItems(spec, s.threshold, requests)
	r.Due = r.Sent
	if ok {
		s.mendOnTime(missed, gained)
	}
	return true
}

// mendStreams adds so many streams that keep the threshold. One that has had its first event is among them, and so
// counts twice: a breach is seen a little later for it.
func (s *sample) mendStreams(took time.Duration, rest int64) {
	streams := s.request.Streams
	switch t, ok := metric.StreamTimeOf(s.threshold.Time); {
	case streams == nil: // none came in parts
	case ok:
		ideal := streams.Ideally(t.Measured).Clone()
		ideal.RecordN(took, rest)
		streams.Ideal[t.Measured] = ideal
		streams.Times[t.Measured].RecordN(took, rest)
	case s.threshold.Min != nil && s.goal >= 0:
		kept := make([]int64, s.goal+1)
		kept[s.goal] = rest
		streams.AddCounts(&measure.Streams{OnTime: kept, IdealOnTime: kept})
	}
}

// wanted is what so many requests must become to keep the threshold.
func (s *sample) wanted(rest int64) (outcome measure.Outcome, expected int64, took time.Duration) {
	outcome, expected = measure.Success, rest
	switch more := s.threshold.Min != nil; {
	case !more:
	case s.threshold.Metric == v1beta1.MetricRateLimitedRate:
		outcome = measure.RateLimited
	case s.threshold.Metric == v1beta1.MetricFailureRate:
		outcome, expected = measure.ServerError, 0
	case s.metric.Unit == metric.Latency:
		took = measure.Highest
	}
	return outcome, expected, took
}

// mendOnTime counts everything that is due as on time, except what missed it; a perfect
// generator would have gained some of that.
func (s *sample) mendOnTime(missed, gained int64) {
	r, i := &s.request, s.within
	r.OnTime[i], r.Overdue[i] = r.Due-r.Denied()-missed, r.Due
	if i < len(r.IdealOnTime) {
		r.IdealOnTime[i] = r.OnTime[i] + gained
	}
}

// mostItems is the largest number of items of a request that the threshold is about.
func mostItems(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold, requests []v1beta1.RequestStatus) int64 {
	most := int64(1)
	for i, items := range plan.RequestItems(spec) {
		if plan.IsAbout(t, requests, i) {
			most = max(most, items)
		}
	}
	return most
}
