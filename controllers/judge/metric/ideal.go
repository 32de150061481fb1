package metric

import (
	"math/big"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Ideal is the value of a quantity without the generator's own delay, without what failed by its doing,
// and of failureRate without what is undecided: the measured one where it is the same; nil: it has none.
func Ideal(q Quantity, result *v1beta1.StepResult) *big.Rat {
	ideal, exhausted := *result, exhausted(result)
	ideal.Unsent -= result.UnsentByGenerator
	if s := result.Sessions; s != nil {
		ideal.Sessions = &v1beta1.SessionsResult{Due: s.Due, Started: min(s.Due, s.Started+result.UnsentByGenerator)}
	}
	idealCounts(q.Metric, &ideal.Counts, result.Excused, exhausted, result.Undecided)
	ideal.ResponseTime = Of(q.Metric).idealTimes(result.ResponseTime, result.WithoutGenerator, result.Excused, result.Histogram)
	ideal.Types, ideal.Requests = slices.Clone(result.Types), slices.Clone(result.Requests)
	if part := q.part(&ideal); part != nil {
		idealCounts(q.Metric, &part.Counts, part.Excused, exhausted, part.Undecided)
		part.ResponseTime = Of(q.Metric).idealTimes(part.ResponseTime, part.WithoutGenerator, part.Excused, "")
	}
	value := Value(q, &ideal)
	if factor := idealFactor(q.Metric, result); value != nil && factor != nil {
		value = new(big.Rat).Mul(value, factor)
	}
	return value
}

// exhausted is how many connections of a step the generator had no descriptor or port for.
func exhausted(result *v1beta1.StepResult) int64 {
	if g := result.Generator; g != nil {
		return g.DescriptorsExhausted + g.PortsExhausted
	}
	return 0
}

// GeneratorsFailures is how many of the requests that failed may have done so by the generator's doing:
// their worker did not run, or had no descriptor or port for them. other is how many have the outcome of
// these.
func GeneratorsFailures(excused, exhausted, other int64) int64 {
	return excused + min(exhausted, other)
}

// FailedByGenerator is how many of the requests of a step may have failed so.
func FailedByGenerator(result *v1beta1.StepResult) int64 {
	return GeneratorsFailures(result.Excused, exhausted(result), result.Outcomes.Other)
}

// idealCounts takes from the counts that a share is of what failed by the generator's doing, and what is
// undecided.
func idealCounts(name v1beta1.Metric, c *v1beta1.Counts, excused, exhausted, undecided int64) {
	generators := GeneratorsFailures(excused, exhausted, c.Outcomes.Other)
	c.Failed = max(0, c.Failed-generators-undecided)
	if of, ok := Of(name).Measured.(OfSent); ok && of.PerFailure > 0 {
		c.Outcomes.RateLimited += of.PerFailure * generators
	}
}

// idealFactor is by how many times more responses a second would have come at most, had no request failed
// by the generator's doing, had it sent all that it might, and had it not held users up; nil: no more, or
// the metric is not counted per second.
func idealFactor(name v1beta1.Metric, result *v1beta1.StepResult) *big.Rat {
	m := Of(name)
	if _, ok := m.Measured.(PerSecond); !ok {
		return nil
	}
	n := result.Outcomes.Success
	if name == v1beta1.MetricThroughput {
		n = result.Completed
	}
	more := FailedByGenerator(result) + withheld(result)
	if n <= 0 || more <= 0 && heldUp(result) == nil {
		return nil
	}
	factor := big.NewRat(n+more, n)
	if held := heldUp(result); held != nil {
		factor.Quo(factor, held.Sub(big.NewRat(1, 1), held))
	}
	return factor
}

// withheld is how many requests a steady generator would have sent beyond those that were sent, at most.
// A session that was not started would have sent as many as the others did.
func withheld(result *v1beta1.StepResult) int64 {
	n := result.UnsentByGenerator
	if s := result.Sessions; s != nil && s.Started > 0 {
		return n * ((result.Sent + s.Started - 1) / s.Started)
	}
	return n
}

// heldUp is the share of their time for which users were held up, from 0 to 1; nil: for none that is known.
func heldUp(result *v1beta1.StepResult) *big.Rat {
	if result.Generator == nil {
		return nil
	}
	percent, err := Share.Parse(result.Generator.HeldUp)
	if err != nil || percent.Sign() <= 0 || percent.Cmp(big.NewRat(100, 1)) >= 0 {
		return nil
	}
	return percent.Quo(percent, big.NewRat(100, 1))
}

// LateTogether is by how much longer a time may be since requests that were sent late came to
// the target together; 0 of other quantities, and where it is not known.
func LateTogether(q Quantity, result *v1beta1.StepResult) *big.Rat {
	if m := Of(q.Metric); m.Unit == Latency && m.byPart != nil {
		if late := m.byPart(nil, result.LateTogether); late != nil {
			return late
		}
	}
	return new(big.Rat)
}
