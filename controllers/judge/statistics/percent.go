package statistics

import (
	"math/big"
	"slices"
)

// Percent is by how many percent a factor is above 1; below 0 of a decrease.
func Percent(factor *big.Rat) *big.Rat {
	above := new(big.Rat).Sub(factor, big.NewRat(1, 1))
	return above.Mul(above, big.NewRat(100, 1))
}

// Middle is the median, of an even number the lower of the two in the middle: a figure that
// was measured, not one between two. nil: there is none.
func Middle(values []*big.Rat) *big.Rat {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, (*big.Rat).Cmp)
	return sorted[(len(sorted)-1)/2]
}
