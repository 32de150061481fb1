package metric

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Ideal is the value of a quantity without the generator's own delay, and of failureRate
// without what is undecided: the measured one where it is the same; nil: it has none.
func Ideal(q Quantity, result *v1beta1.StepResult) *big.Rat {
	ideal := *result
	ideal.Failed -= result.Excused + result.Undecided
	ideal.Unsent -= result.UnsentByGenerator
	if s := result.Sessions; s != nil {
		ideal.Sessions = &v1beta1.SessionsResult{Due: s.Due, Started: min(s.Due, s.Started+result.UnsentByGenerator)}
	}
	ideal.ResponseTime = cmp.Or(result.WithoutGenerator, result.ResponseTime)
	ideal.Types, ideal.Requests = slices.Clone(result.Types), slices.Clone(result.Requests)
	if part := q.part(&ideal); part != nil {
		part.Failed -= part.Excused + part.Undecided
		part.ResponseTime = cmp.Or(part.WithoutGenerator, part.ResponseTime)
	}
	return Value(q, &ideal)
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
