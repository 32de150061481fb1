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

// Median is the median of values, of an even number the mean of the two in the middle: it stands beside a
// change, which is of all of them. nil: there is none.
func Median(values []*big.Rat) *big.Rat {
	if len(values) == 0 {
		return nil
	}
	return median(slices.SortedFunc(slices.Values(values), (*big.Rat).Cmp))
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
