package verdict

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// label is a threshold's metric, as far as it needs no filter to be named.
func label(t *v1beta1.Threshold) string {
	text := string(t.Metric)
	if t.Metric == v1beta1.MetricQuery {
		text = "query " + t.Query
	}
	if t.Within != nil {
		text += " within " + t.Within.Duration.String()
	}
	with := " with "
	if t.FirstEvent != nil {
		text += with + "the first event within " + t.FirstEvent.Duration.String()
		with = " and "
	}
	if t.MeanGap != nil {
		text += with + "a mean time between events within " + t.MeanGap.Duration.String()
	}
	if t.Time == v1beta1.ServiceTime {
		text += " service time"
	}
	if of, ok := metric.StreamTimeOf(t.Time); ok {
		text += " of the " + of.Words
	}
	if t.Of == v1beta1.LatencyOfExpected {
		text += " of expected responses"
	}
	return text
}

// timeOf is the place of a threshold's time among those of the plan.
func timeOf(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) int {
	if t.Within == nil || t.HasGoal() {
		return 0
	}
	return slices.Index(plan.OnTime(spec), t.Within.Duration)
}

// onTimeRate is the share of due requests that were on time, those left out that were denied
// as expected: they are neither on time nor late. What was due shortly before a step was cut,
// and had no answer yet, might have been on time: the value leaves it out, and the worst does
// not. Of a step that was carried out there is none.
func (s sample) onTimeRate() observation {
	missed, ok := s.request.Missed(s.within)
	due := s.request.Due - s.request.Denied()
	switch {
	case !ok || !s.merged.KnowsDue():
		return unknown("%s cannot be judged: a worker did not count the requests on time.", s.place())
	case s.request.Due > 0 && due <= 0:
		return unknown("%s cannot be judged: every request was denied, as expected.", s.place())
	case due <= 0:
		return unknown("%s cannot be judged: no request was due.", s.place())
	}
	onTime := s.request.OnTime[s.within]
	gained := s.onTimeIdeally() - onTime
	o := observation{value: metric.Percent(due-missed, due), ideal: metric.Percent(due-missed+gained, due), worst: metric.Percent(onTime, due)}
	o.apart = metric.Percent(min(due-missed+gained+s.onTimeApart(), due), due)
	if s.threshold.Max != nil {
		o.value, o.ideal, o.worst = o.worst, metric.Percent(onTime+gained, due), o.value
	}
	o.openUndecided(s, onTime, due)
	if open := due - missed - onTime; open > 0 {
		o.caveat = fmt.Sprintf("%s leaves out %d requests that had no answer when the step was cut.", s.place(), open)
	}
	return o
}

// openUndecided counts the requests that had waited for less than their timeout as on time, and
// as not on time: both may be.
func (o *observation) openUndecided(s sample, onTime, due int64) {
	n := s.request.Undecided
	if s.waited() >= s.threshold.Within.Duration {
		return
	}
	o.caveat = fmt.Sprintf("%s leaves undecided %s.", s.place(), s.undecided(n))
	most := metric.Percent(min(onTime+n, due), due)
	if s.threshold.Max != nil && most.Cmp(o.worst) > 0 {
		o.worst = most
	}
	o.best = most
}

// times are what a latency is of. ok is false if it is not known.
func (s sample) times() (h *measure.Histogram, ok bool) {
	if s.threshold.Time.IsOfStreams() {
		return s.eventTimes()
	}
	response, service := s.request.Response, s.request.Service
	if s.threshold.Of == v1beta1.LatencyOfExpected {
		if response, service, ok = s.request.ExpectedTimes(); !ok {
			return nil, false
		}
	}
	if s.threshold.Time == v1beta1.ServiceTime {
		return service, true
	}
	return response, true
}
