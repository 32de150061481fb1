package verdict

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// defaults are the maxima that hold where the spec has none of their metric. Without
// them a target passes that answers each request with an error, or that keeps half of
// the load from being sent: both are fast.
//
// An expected 429 is no failure: a limiter that is to deny has it in expect.status.
var defaults = defaultsOf(metric.Default())

func defaultsOf(list []metric.Metric) []v1beta1.ThresholdStatus {
	var statuses []v1beta1.ThresholdStatus
	for _, m := range list {
		statuses = append(statuses, v1beta1.ThresholdStatus{
			Name: string(m.Name), Metric: m.Name, Limit: m.Most, Default: true, State: v1beta1.ThresholdPending,
		})
	}
	return statuses
}

// Thresholds are the thresholds of a run that is accepted: those of its spec, in the
// same order, and the defaults that hold in any of its steps. They are written to the
// status once, and judged by what stands there: an operator with other defaults, which
// takes the run over, judges it by the same limits.
func Thresholds(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus, steps []v1beta1.StepStatus) []v1beta1.ThresholdStatus {
	var list []v1beta1.ThresholdStatus
	for i := range spec.Thresholds {
		status := pending(&spec.Thresholds[i])
		status.Name = unlike(status.Name, list)
		list = append(list, status)
	}
	for i := range defaults {
		holds := func(step v1beta1.StepStatus) bool {
			_, ok := limits{spec: spec, steps: steps, requests: requests}.defaultIn(&defaults[i], &step)
			return ok
		}
		if slices.ContainsFunc(steps, holds) {
			list = append(list, defaults[i])
		}
	}
	return append(list, journeyDefaults(spec, steps)...)
}

func pending(t *v1beta1.Threshold) v1beta1.ThresholdStatus {
	status := v1beta1.ThresholdStatus{Name: t.Name, Metric: t.Metric, State: v1beta1.ThresholdPending}
	if status.Name == "" {
		status.Name = nameOf(t)
	}
	switch {
	case t.Max != nil:
		status.Limit = t.Max.String()
	case t.Min != nil:
		status.Limit = t.Min.String()
	case t.MaxIncrease != "":
		status.Limit = "+" + t.MaxIncrease
	case t.MaxDecrease != "":
		status.Limit = "-" + t.MaxDecrease
	}
	return status
}

// maxName is the bound that the API puts on a threshold's name.
const maxName = 63

// nameOf says what a threshold is about: "p95 of follow in peak".
func nameOf(t *v1beta1.Threshold) string {
	name := subject(t)
	switch {
	case t.MaxIncrease != "":
		name = "increase of " + name
	case t.MaxDecrease != "":
		name = "decrease of " + name
	}
	if len(t.Steps) > 0 {
		name += " in " + named(t.Steps, "steps")
	}
	if t.UpToUsers != nil {
		name += fmt.Sprintf(" up to %d users", *t.UpToUsers)
	}
	return text.Truncate(name, maxName)
}

// unlike is the name, or, if another threshold has it, the name with a number.
func unlike(name string, others []v1beta1.ThresholdStatus) string {
	for n, numbered := 2, name; ; n++ {
		if !slices.ContainsFunc(others, func(o v1beta1.ThresholdStatus) bool { return o.Name == numbered }) {
			return numbered
		}
		number := fmt.Sprintf(" (%d)", n)
		numbered = text.Truncate(name, maxName-len(number)) + number
	}
}

// limit is a threshold as it holds in one step.
type limit struct {
	v1beta1.Threshold
	isDefault bool
}

// limits are what is judged by.
type limits struct {
	spec *v1beta1.LoadTestSpec
	// steps are those of the run.
	steps []v1beta1.StepStatus
	// requests are the names and types of the requests by index.
	requests []v1beta1.RequestStatus
	// merged says which of them were sent; nil: all may be.
	merged *measure.Measurement
}

// in is the threshold that stands at index n of the status, as it holds in a step; ok
// is false if it is not about the step.
func (l limits) in(step *v1beta1.StepStatus, n int, status *v1beta1.ThresholdStatus) (t limit, ok bool) {
	if status.Default {
		return l.defaultIn(status, step)
	}
	if n >= len(l.spec.Thresholds) {
		return t, false // not reached: the spec of a run does not change
	}
	t.Threshold = l.spec.Thresholds[n]
	return t, l.applies(&t.Threshold, step)
}

// defaultIn is a default threshold as it holds in a step: for all requests, or for
// those that no maximum of the spec is about that has the same metric. ok is false
// if there are none.
func (l limits) defaultIn(status *v1beta1.ThresholdStatus, step *v1beta1.StepStatus) (t limit, ok bool) {
	if isOfJourneys(status) {
		return l.journeyDefaultIn(status, step)
	}
	most := intstr.FromString(status.Limit)
	t = limit{v1beta1.Threshold{Name: status.Name, Metric: status.Metric, Max: &most}, true}
	if !l.applies(&t.Threshold, step) || !l.isMeasured(status.Metric, step) {
		return t, false
	}
	var own []*v1beta1.Threshold
	for i := range l.spec.Thresholds {
		if o := &l.spec.Thresholds[i]; len(o.Journeys) == 0 && l.replaces(o, status, step) {
			own = append(own, o)
		}
	}
	if len(own) == 0 {
		return t, true
	}
	for i := range l.requests {
		covered := slices.ContainsFunc(own, func(o *v1beta1.Threshold) bool { return plan.IsAbout(o, l.requests, i) })
		if !covered && l.sent(i) {
			t.Requests = append(t.Requests, l.requests[i].Name)
		}
	}
	return t, len(t.Requests) > 0
}

// isMeasured says whether a step has what the metric of a default threshold is of.
func (l limits) isMeasured(m v1beta1.Metric, step *v1beta1.StepStatus) bool {
	switch _, isOfDue := metric.Of(m).Measured.(metric.OfDue); {
	case isOfDue:
		return isPlanned(&step.Load)
	case m == v1beta1.MetricDowntime:
		// What is known of the course of a step that was cut may be that of some workers.
		return step.State != v1beta1.StepCut || l.merged == nil || l.merged.Timeline != nil
	}
	return true
}

// replaces says whether a threshold of the spec holds instead of a default, which is a
// maximum, in a step. A minimum does not, as each value that breaches the default keeps it;
// nor does a bound on the difference to a baseline, as a target that failed as often before
// keeps it.
func (l limits) replaces(own *v1beta1.Threshold, status *v1beta1.ThresholdStatus, step *v1beta1.StepStatus) bool {
	return own.Metric == status.Metric && own.Max != nil && l.applies(own, step)
}

// isPlanned says whether a step asks for requests whatever the target does: users
// who do not think send the next when the last was answered, and leave none unsent.
func isPlanned(l *v1beta1.StepLoad) bool { return l.IsScheduled() || l.IsBurst() }

func (l limits) sent(request int) bool {
	return l.merged == nil || request < len(l.merged.Requests) && l.merged.Requests[request].Sent > 0
}

func (l limits) applies(t *v1beta1.Threshold, step *v1beta1.StepStatus) bool {
	return applies(t, l.steps, step)
}

// applies says whether a threshold is about a step of a run: one that sends load, to the judged
// target, of not more users than it is meant for.
func applies(t *v1beta1.Threshold, steps []v1beta1.StepStatus, step *v1beta1.StepStatus) bool {
	return step.Side != v1beta1.SideControl && t.Covers(step, rungs.NameOf(steps, step))
}

// hasOwn says whether a threshold of the spec is about a step, or only defaults are.
func hasOwn(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus, step *v1beta1.StepStatus) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1beta1.Threshold) bool { return applies(&t, steps, step) })
}
