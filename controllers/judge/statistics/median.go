package statistics

import (
	"math/big"
	"slices"
)

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

// median is the mean of the two in the middle of an even number.
func median(sorted []*big.Rat) *big.Rat {
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	if low == nil || high == nil {
		return high
	}
	sum := new(big.Rat).Add(low, high)
	return sum.Quo(sum, big.NewRat(2, 1))
}
