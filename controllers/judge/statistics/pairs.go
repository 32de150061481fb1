package statistics

import (
	"math/big"
	"slices"
)

// OfPairs compares figures that were measured in pairs: before[i] and after[i] shared the
// time, and what it did to both. ok is false if there are no pairs.
//
// Each pair has a ratio, in which what it shared is gone. If the order within each pair was
// drawn, a ratio is as likely above the true factor by some factor as it is below it,
// whatever the second of two measurements does to itself. So the signed-rank test of
// Wilcoxon ("Individual comparisons by ranking methods", 1945) is exact. The estimate is
// the median of the geometric means of all two ratios, each with itself too, and the bounds
// are means of that list (Hodges and Lehmann, 1963; Hollander, Wolfe and Chicken, section
// 3.3). Of fewer than five pairs no bound is certain at the level of 5 %.
func OfPairs(before, after []*big.Rat) (c Change, ok bool) {
	if len(before) == 0 || len(before) != len(after) {
		return c, false
	}
	var ratios, means []*big.Rat
	for i := range before {
		ratios = append(ratios, ratio(after[i], before[i]))
		for _, earlier := range ratios {
			means = append(means, geometricMean(earlier, ratios[i]))
		}
	}
	slices.SortFunc(means, compare)
	n := outsidePairs(len(ratios))
	c.Tested = n > 0
	n = max(n, 1)
	c.Low, c.High = means[n-1], means[len(means)-n]
	c.Factor = median(means)
	return c, true
}

// digits is how exact a mean is that is no fraction.
var digits = new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil)

// geometricMean is the root of a product: exact if that is a fraction, else rounded down
// after the twelfth digit. Nil, from nothing to something, is above all; with nothing from
// something, which is as far below all, it is no change.
func geometricMean(a, b *big.Rat) *big.Rat {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil && b.Sign() == 0, b == nil && a.Sign() == 0:
		return big.NewRat(1, 1)
	case a == nil || b == nil:
		return nil
	case a.Cmp(b) == 0:
		return a
	}
	// The root of p/q is that of p·q over q.
	product := new(big.Rat).Mul(a, b)
	root := new(big.Int).Mul(product.Num(), product.Denom())
	root.Sqrt(root.Mul(root, digits))
	below := new(big.Int).Sqrt(digits)
	return new(big.Rat).SetFrac(root, below.Mul(below, product.Denom()))
}

// outsidePairs is the rank of the bounds among the sorted means of n ratios: the greatest k
// for which the k-th least mean is above the true factor in at most one comparison in 20;
// 0 if the least is above it more often.
//
// With the factor taken out, each ratio is above or below 1 with the same chance, whatever
// its rank by how far. The means that are below the factor are as many as the sum of the
// ranks of the ratios below it, so that the k-th least is above if that sum is less than k.
func outsidePairs(n int) int {
	sums := signsBySum(n)
	var all, below float64
	for _, count := range sums {
		all += count
	}
	for k, count := range sums {
		if below += count; below*level > all {
			return k
		}
	}
	return len(sums) // not reached: all of them are more than one in 20
}

// signsBySum is how many choices of the ranks 1 to n have each sum. Their number, 2^n, is
// exact in a float64 for the 32 pairs that there are at most.
func signsBySum(n int) []float64 {
	sums := make([]float64, n*(n+1)/2+1)
	sums[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(sums) - 1; sum >= rank; sum-- {
			sums[sum] += sums[sum-rank]
		}
	}
	return sums
}
