package verdict

import (
	"fmt"
	"math/big"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// grows says that the outstanding requests of a step became more and more: it kept its
// thresholds for its own time, if it did, and does not for longer.
func grows(step *v1beta1.StepStatus) bool {
	return step.Result != nil && step.Result.Outstanding.Grows()
}

// isUncertain says that the outstanding requests of a step may have become more and more by
// the generator's fault alone: the load is neither kept nor breached.
func isUncertain(step *v1beta1.StepStatus) bool {
	return step.Result != nil && step.Result.Outstanding.IsUncertain()
}

// drift is by how many requests a second what was outstanding grew in a step.
func (s sample) drift() observation {
	perSecond, ideally, unknownFor := results.Drift(&s.step.Load, s.merged)
	if unknownFor != "" {
		return unknown("%s cannot be judged. %s", s.place(), unknownFor)
	}
	return between(new(big.Rat).SetFloat64(perSecond), new(big.Rat).SetFloat64(ideally))
}

// growth is that of a step, and what comes of it, in a sentence; empty: it does not grow.
func (r run) growth(step *v1beta1.StepStatus) string {
	switch {
	case grows(step):
		return text.Grew(step.Result.Outstanding.Growth, step.Name) + r.prospect(step) + "."
	case isUncertain(step):
		o := step.Result.Outstanding
		return fmt.Sprintf("%s, and by %s/s without the generator's own delay.", text.Grew(o.Growth, step.Name), text.Decimal(o.WithoutGenerator))
	}
	return ""
}

// prospect is which limit on times a growing step passes first, and when; empty: none
// that can be told.
func (r run) prospect(step *v1beta1.StepStatus) string {
	first, said := time.Duration(0), ""
	for i := range r.spec.Thresholds {
		limit, what := timeLimit(&r.spec.Thresholds[i])
		after, ok := results.TimeUntil(step, limit) // of 0 there is none
		if !ok || !applies(&r.spec.Thresholds[i], r.status.Steps, step) || said != "" && after >= first {
			continue
		}
		first = after
		said = fmt.Sprintf("; at that rate %s after %s of this load", what, text.Short(after.Round(time.Second)))
	}
	return said
}

// timeLimit is the limit that a threshold puts on the response times of all requests, and
// what it is for these to pass it; 0: it puts none.
func timeLimit(t *v1beta1.Threshold) (limit time.Duration, what string) {
	isOfAll := len(t.Requests)+len(t.Types)+len(t.Journeys) == 0 && t.Of != v1beta1.LatencyOfExpected
	switch {
	case !isOfAll || t.Time != "" && t.Time != v1beta1.ResponseTime:
	case t.Within != nil:
		limit, what = t.Within.Duration, "response times pass "+text.Short(t.Within.Duration)
	default:
		limit, _ = time.ParseDuration(t.Max.String()) // of what is no time, or is not set, 0
		what = fmt.Sprintf("%s passes %s", t.Metric, t.Max.String())
	}
	return limit, what
}

// growing is about the first step that kept its thresholds and cannot for longer, or may not;
// empty: there is none.
func (r run) growing() string {
	for _, step := range r.ran() {
		if growth := r.growth(&step); growth != "" && step.Side != v1beta1.SideControl {
			return growth + " Step " + step.Name + " does not count as kept."
		}
	}
	return ""
}
