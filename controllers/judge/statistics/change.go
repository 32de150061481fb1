package statistics

import (
	"math/big"
	"slices"
)

// Change is the factor between the figures of two sides.
type Change struct {
	// Factor is the estimate: the median of the ratios of all pairs. Nil: the earlier
	// figure is 0 and the later is not, and no factor leads there.
	Factor *big.Rat
	// Low and High are what the factor certainly is between. Nil: as above.
	Low, High *big.Rat
	// Tested says that each of Low and High is wrong in at most 5 % of comparisons.
	// Where it is false there are too few repetitions for that, fewer than three of each
	// side or two against five, or fewer than five pairs: Low and High are the least and the greatest ratio, and
	// say nothing of noise.
	Tested bool
}

// Of compares the figures of the repetitions of one side with those of the other. No
// figure is below 0. ok is false if one side has none.
func Of(before, after []*big.Rat) (c Change, ok bool) {
	if len(before) == 0 || len(after) == 0 {
		return c, false
	}
	var ratios []*big.Rat
	for _, a := range after {
		for _, b := range before {
			ratios = append(ratios, ratio(a, b))
		}
	}
	slices.SortFunc(ratios, compare)
	n := outside(len(before), len(after))
	c.Tested = n > 0
	n = max(n, 1)
	c.Low, c.High = ratios[n-1], ratios[len(ratios)-n]
	c.Factor = median(ratios)
	return c, true
}

// ratio is nil for something over nothing, and 1 for nothing over nothing, which is no
// change.
func ratio(after, before *big.Rat) *big.Rat {
	switch {
	case before.Sign() != 0:
		return new(big.Rat).Quo(after, before)
	case after.Sign() == 0:
		return big.NewRat(1, 1)
	}
	return nil
}

// compare orders ratios; nil is above all.
func compare(a, b *big.Rat) int {
	switch {
	case a != nil && b != nil:
		return a.Cmp(b)
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	}
	return -1
}

// Percent is by how many percent a factor is above 1; below 0 of a decrease.
func Percent(factor *big.Rat) *big.Rat {
	above := new(big.Rat).Sub(factor, big.NewRat(1, 1))
	return above.Mul(above, big.NewRat(100, 1))
}

// Answer says whether a change keeps a bound.
type Answer int

const (
	// Unsure means that the bound is among what the factor may be.
	Unsure Answer = iota
	// Yes means that all that the factor may be keeps the bound.
	Yes
	// No means that nothing of it does.
	No
)

// AtMost says whether the factor is at most a limit.
func (c Change) AtMost(limit *big.Rat) Answer {
	switch {
	case compare(c.High, limit) <= 0:
		return Yes
	case compare(c.Low, limit) > 0:
		return No
	}
	return Unsure
}

// AtLeast says whether the factor is at least a limit.
func (c Change) AtLeast(limit *big.Rat) Answer {
	switch {
	case compare(c.Low, limit) >= 0:
		return Yes
	case compare(c.High, limit) < 0:
		return No
	}
	return Unsure
}
