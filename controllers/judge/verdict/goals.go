package verdict

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// goalOf is the place of what a threshold asks of streams among the goals of the plan; -1: it asks nothing.
func goalOf(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) int {
	if !t.HasGoal() {
		return -1
	}
	return slices.Index(plan.StreamGoals(spec), plan.GoalOf(t))
}

// goalRate is the share of due requests whose streams kept a goal, those left out that were denied as
// expected. What had not ended when the step did may have kept it, or not, unless it had waited for its timeout.
func (s sample) goalRate() observation {
	streams := s.request.Streams
	due := s.request.Due - s.request.Denied()
	switch {
	case s.goal < 0 || len(streams.OnTime) > 0 && s.goal >= len(streams.OnTime) || !s.merged.KnowsDue():
		return unknown("%s cannot be judged: a worker did not count the requests on time.", s.place())
	case due <= 0:
		return unknown("%s cannot be judged: no request was due.", s.place())
	}
	onTime, ideally := int64(0), int64(0) // no stream has succeeded, if none is counted
	if len(streams.OnTime) > 0 {
		onTime, ideally = streams.OnTime[s.goal], streams.IdealOnTime[s.goal]
	}
	ideally = min(ideally+s.generatorsFailures()+s.unsentByGenerator(), due)
	o := between(metric.Percent(onTime, due), metric.Percent(ideally, due))
	if open := s.open(); open > 0 {
		o.caveat = fmt.Sprintf("%s leaves out %s.", s.place(), s.undecided(open))
		o.best = metric.Percent(min(onTime+open, due), due)
		if s.threshold.Max != nil {
			o.worst = o.best
		}
	}
	return o
}
