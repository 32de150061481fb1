package verdict

import (
	"fmt"
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// decision is what a value says of its bound.
type decision struct {
	state v1beta1.ThresholdState
	// reason is that of condition ThresholdsMet, "" where the state says it.
	reason  string
	message string
}

// decide compares a value with its bound, at both ends of its bracket: as it was measured,
// and as a perfect generator would have measured it. What both ends keep is kept, and what
// both breach is breached; else the generator's part of the time decides it, and it is
// Inconclusive. It is Inconclusive, too, where both breach it by less than requests that came
// late together may have waited for one another.
//
// A load that was not the planned one says nothing: its value is another load's.
func decide(s sample, b bound, o observation) decision {
	measured, ideal := b.format(o.value), b.format(o.ideally())
	sentence := s.sentence(b, o, measured)
	keeps, keepsIdeally := b.keeps(o.value), b.keeps(o.ideally())
	switch {
	case s.isDisplaced():
		return decision{v1beta1.ThresholdInconclusive, v1beta1.ReasonLoadDisplaced, s.step.Result.Generator.Message}
	case keeps != keepsIdeally:
		return decision{v1beta1.ThresholdInconclusive, v1beta1.ReasonGeneratorUncertain, joined(
			s.between(b, o.value, o.ideally()), fmt.Sprintf("Without the generator's own delay it is %s.", ideal))}
	case !keeps:
		return breached(s, b, o, sentence)
	case (b.isMax || s.threshold.Metric == v1beta1.MetricOnTimeRate) && (o.worst == nil || !b.keeps(o.worst)):
		return decision{v1beta1.ThresholdInconclusive, "", o.caveat}
	}
	return decision{v1beta1.ThresholdPassed, "", sentence + "."}
}

// sentence says what a value came to, and what is demanded of it.
func (s sample) sentence(b bound, o observation, observed string) string {
	switch {
	case s.threshold.Metric == v1beta1.MetricDrift && o.value.Sign() > 0:
		return fmt.Sprintf("Outstanding requests grew by %s/s in step %s (drift; %s)", observed, s.step.Name, b.demand())
	case o.fact != "" && b.isMax && !b.keeps(o.value):
		return fmt.Sprintf("%s (%s %s; %s)", o.fact, label(s.threshold), observed, b.demand())
	}
	return fmt.Sprintf("%s is %s in step %s; %s", subject(s.threshold), observed, s.step.Name, b.demand())
}

// between says that a value is between two others.
func (s sample) between(b bound, one, other *big.Rat) string {
	if one.Cmp(other) > 0 {
		one, other = other, one
	}
	return fmt.Sprintf("%s is between %s and %s in step %s; %s.", subject(s.threshold), b.format(one), b.format(other), s.step.Name, b.demand())
}

// breached is what a value says that breaches its bound at both ends of the bracket.
func breached(s sample, b bound, o observation, sentence string) decision {
	measured, ideal := b.format(o.value), b.format(o.ideally())
	switch {
	case o.best != nil && b.keeps(o.best):
		return decision{v1beta1.ThresholdInconclusive, "", joined(s.between(b, o.value, o.best), o.caveat)}
	case s.lacksLoad():
		return decision{v1beta1.ThresholdInconclusive, "", sentence + ", but a part of the load is missing."}
	case o.apart != nil && b.keeps(o.apart):
		return decision{v1beta1.ThresholdInconclusive, v1beta1.ReasonGeneratorUncertain, joined(
			fmt.Sprintf("%s is %s without the generator's own delay in step %s; %s.", subject(s.threshold), ideal, s.step.Name, b.demand()),
			s.together())}
	case s.threshold.Metric == v1beta1.MetricDowntime && b.isMax:
		return decision{v1beta1.ThresholdFailed, v1beta1.ReasonTargetDown, sentence + "."}
	case isVisible(o.value, o.ideally()):
		sentence = fmt.Sprintf("%s is %s in step %s (%s without the generator's own delay); %s", subject(s.threshold), measured, s.step.Name, ideal, b.demand())
	}
	return decision{v1beta1.ThresholdFailed, "", joined(sentence+".", o.counted)}
}

// visible is by how large a part of the measured value the ends of a bracket differ, at
// least, for both to be said: 1/100.
const visible = 100

func isVisible(measured, ideal *big.Rat) bool {
	apart := new(big.Rat).Sub(measured, ideal)
	apart.Abs(apart).Mul(apart, big.NewRat(visible, 1))
	return apart.Cmp(measured) > 0
}

// isDisplaced says whether the step's load was not the planned one by the generator's
// fault. No generator makes a limiter over-grant or deny falsely: it is judged by the times
// at which requests were really sent.
func (s sample) isDisplaced() bool {
	if _, isAudited := s.metric.Measured.(metric.Audited); isAudited {
		return false
	}
	g := s.step.Result.Generator
	return g != nil && g.LoadDisplaced
}

// blamed is the state of the generator in a step of whose result its delay decides a part: it
// is not healthy, and says what delayed it, if that is known. nil: nothing is known of it.
func blamed(run *v1beta1.LoadTestStatus, step *v1beta1.StepStatus, merged *measure.Measurement) *v1beta1.GeneratorStatus {
	g := step.Result.Generator
	if g == nil || !g.Healthy {
		return g
	}
	reason, message := results.Delay(run.Workers.Desired, step, merged)
	if reason == "" {
		return g
	}
	g = g.DeepCopy()
	g.Healthy, g.Reason, g.Message = false, reason, message
	return g
}
