package figures

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Ideal is the value of a quantity without the generator's own delay: the measured one where
// it is the same, or not known, as of one type of request; nil: it has none.
func Ideal(q Quantity, result *v1alpha1.StepResult) *big.Rat {
	if q.Type != "" {
		return Value(q, result)
	}
	ideal := *result
	if result.WithoutGenerator != nil {
		ideal.ResponseTime = result.WithoutGenerator
	}
	ideal.Failed -= result.Excused
	ideal.Unsent -= result.UnsentByGenerator
	return Value(q, &ideal)
}
