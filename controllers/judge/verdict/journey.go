package verdict

import (
	"fmt"
	"math/big"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// journeyDefault is the maximum that holds for the journeys that no threshold of the spec
// on failureRate is about. That of the requests is not about them: of a journey of a
// hundred requests that always fails with the last, one percent of the requests fail.
var journeyDefault = v1beta1.ThresholdStatus{
	Name: "journeyFailureRate", Metric: v1beta1.MetricFailureRate, Limit: metric.MostJourneys, Default: true, State: v1beta1.ThresholdPending,
}

// isOfJourneys says whether a default threshold is that of the journeys.
func isOfJourneys(status *v1beta1.ThresholdStatus) bool { return status.Name == journeyDefault.Name }

// journeyDefaults has the default, if it holds in any step.
func journeyDefaults(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus) []v1beta1.ThresholdStatus {
	for i := range steps {
		if _, ok := (limits{spec: spec, steps: steps}).journeyDefaultIn(&journeyDefault, &steps[i]); ok {
			return []v1beta1.ThresholdStatus{journeyDefault}
		}
	}
	return nil
}

// journeyDefaultIn is the default as it holds in a step. It is not about journeys of which
// none has ended: a step may be shorter than they are.
func (l limits) journeyDefaultIn(status *v1beta1.ThresholdStatus, step *v1beta1.StepStatus) (t limit, ok bool) {
	most := intstr.FromString(status.Limit)
	t = limit{v1beta1.Threshold{Name: status.Name, Metric: status.Metric, Max: &most}, true}
	for i := range l.spec.Journeys {
		name := l.spec.Journeys[i].Name
		own := slices.ContainsFunc(l.spec.Thresholds, func(o v1beta1.Threshold) bool {
			return l.replaces(&o, status, step) && slices.Contains(o.Journeys, name)
		})
		if !own && l.ended(i) {
			t.Journeys = append(t.Journeys, name)
		}
	}
	return t, len(t.Journeys) > 0 && l.applies(&t.Threshold, step)
}

func (l limits) ended(journey int) bool {
	return l.merged == nil ||
		journey < len(l.merged.Journeys) && l.merged.Journeys[journey].Completed+l.merged.Journeys[journey].Failed > 0
}

// addJourneys adds those that the threshold names.
func (s *sample) addJourneys(spec *v1beta1.LoadTestSpec) error {
	if len(s.threshold.Journeys) == 0 {
		return nil
	}
	s.journey = measure.NewJourneys(1)[0]
	for i := range s.merged.Journeys {
		if i >= len(spec.Journeys) || !slices.Contains(s.threshold.Journeys, spec.Journeys[i].Name) {
			continue
		}
		if err := s.journey.Merge(&s.merged.Journeys[i]); err != nil {
			return err
		}
	}
	return nil
}

// observeJourneys is the value of a metric of journeys.
func (s sample) observeJourneys() observation {
	ended := s.journey.Completed + s.journey.Failed
	switch {
	case s.journey.Started == 0:
		return unknown("%s cannot be judged: no journey began.", s.place())
	case s.threshold.Metric != v1beta1.MetricFailureRate:
		return s.journeyTime()
	case ended == 0:
		return unknown("%s cannot be judged: none of the %d journeys has ended.", s.place(), s.journey.Started)
	}
	return between(metric.Percent(s.journey.Failed, ended), metric.Percent(s.journey.Failed-s.journey.Excused, ended))
}

// journeyTime is a time of the journeys that were completed. Those that the end of the step cut would have taken
// longer than they had: where that may make the value worse, it is not certain. So journeys that hang do not make the
// others look like all.
func (s sample) journeyTime() observation {
	from, h := s.metric.Times(), s.journey.Time
	needed := from.Needed()
	if n := h.Count(); n < needed {
		return unknown("%s has %d samples; at least %d are needed.", s.place(), n, needed)
	}
	o := between(metric.Micros(from.Of(h)), metric.Micros(from.Of(s.journey.Ideally())))
	o.apart, o.worst = s.timeApart(o.ideal), nil
	never := max(0, s.journey.Due-s.journey.Started)
	o.caveat = fmt.Sprintf("%s leaves out %d journeys that the end of the step cut: how long these would have taken is not known.", s.place(), s.journey.Unfinished.Count())
	if never > 0 {
		o.caveat = fmt.Sprintf("%s leaves out %d journeys that the end of the step cut, and %d that were due and never began.", s.place(), s.journey.Unfinished.Count(), never)
	}
	all := h.Clone()
	switch {
	case all.Merge(s.journey.Unfinished) != nil: // there are more than can be counted
	case from.Quantile > 0:
		o.worst = withCut(h, s.journey.Unfinished, never, from)
	default: // of those that began
		o.worst = metric.Micros(from.Of(all))
	}
	return o
}

// withCut is the quantile of journeys some of which were cut, of which it is known how long they had taken: each
// would have ended as those did that took longer than that (Kaplan and Meier, "Nonparametric estimation from
// incomplete observations", 1958). So many more never began, and take for ever. nil: it is longer than any that was
// completed.
func withCut(completed, cut *measure.Histogram, never int64, from metric.Times) *big.Rat {
	left, ended, longer := completed.Count()+cut.Count(), int64(0), 1.0
	begun, cuts := float64(left)/(float64(left)+float64(never)), cut.Counts()
	for slot, n := range completed.Counts() {
		if n > 0 {
			ended += n
			longer *= 1 - float64(n)/float64(left)
			if 1-begun+begun*longer <= 1-from.Share()+1e-9 {
				return metric.Micros(completed.AtRank(ended))
			}
		}
		left -= n + cuts[slot]
	}
	return nil
}
