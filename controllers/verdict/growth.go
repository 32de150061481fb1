package verdict

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
)

// grows says that the outstanding requests of a step became more and more: it kept its
// thresholds for its own time, if it did, and does not for longer.
func grows(step *v1alpha1.StepStatus) bool {
	return step.Result != nil && step.Result.Outstanding.Grows()
}

// drift is by how many requests a second what was outstanding grew in a step. A perfect
// generator had sent what was withheld: without it, less was outstanding at the end.
func (s sample) drift() observation {
	perSecond, unknownFor := results.Drift(&s.step.Load, s.merged)
	if unknownFor != "" {
		return unknown("%s cannot be judged. %s", s.place(), unknownFor)
	}
	value := new(big.Rat)
	value.SetFloat64(perSecond)
	withheld := big.NewRat(s.merged.UnsentByGenerator*int64(time.Second/time.Millisecond), max(1, s.merged.Window.Milliseconds()))
	ideal := new(big.Rat).Sub(value, withheld)
	if ideal.Sign() < 0 {
		ideal.SetInt64(0)
	}
	return between(value, ideal)
}

// growth is that of a step, and what comes of it, in a sentence; empty: it does not grow.
func (r run) growth(step *v1alpha1.StepStatus) string {
	if !grows(step) {
		return ""
	}
	return fmt.Sprintf("Outstanding requests grew by %s/s in step %s%s.", strings.TrimSuffix(step.Result.Outstanding.Growth, ".0"), step.Name, r.prospect(step))
}

// prospect is which limit on times a growing step passes first, and when; empty: none
// that can be told.
func (r run) prospect(step *v1alpha1.StepStatus) string {
	first, text := time.Duration(0), ""
	for i := range r.spec.Thresholds {
		limit, what := timeLimit(&r.spec.Thresholds[i])
		if limit == 0 || !applies(&r.spec.Thresholds[i], step) {
			continue
		}
		after, ok := results.TimeUntil(step, limit)
		if !ok || text != "" && after >= first {
			continue
		}
		first = after
		text = fmt.Sprintf("; at that rate %s after %s of this load", what, format.Short(after.Round(time.Second)))
	}
	return text
}

// timeLimit is the limit that a threshold puts on the response times of all requests, and
// what it is for these to pass it; 0: it puts none.
func timeLimit(t *v1alpha1.Threshold) (limit time.Duration, what string) {
	if len(t.Requests)+len(t.Types)+len(t.Journeys) > 0 {
		return 0, ""
	}
	if t.Metric == v1alpha1.MetricOnTimeRate && t.Within != nil {
		return t.Within.Duration, "response times pass " + format.Short(t.Within.Duration)
	}
	if t.Max == nil || unitOf(t.Metric) != latency {
		return 0, ""
	}
	limit, err := time.ParseDuration(t.Max.String())
	if err != nil {
		return 0, ""
	}
	return limit, fmt.Sprintf("%s passes %s", t.Metric, t.Max.String())
}

// growing is about the first step that kept its thresholds and cannot for longer; empty:
// there is none.
func (r run) growing() string {
	for _, step := range r.ran() {
		if step.Side != v1alpha1.SideControl && grows(&step) {
			return strings.TrimSuffix(r.growth(&step), ".") + ": that load does not count as one that is kept."
		}
	}
	return ""
}
