package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// median is the middle value, or the mean of the two in the middle; NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// ratio is the median of the rounds' ratios: the machine may be faster in one round than in
// the next, for both alike.
func ratio(a, b []float64) float64 {
	each := make([]float64, min(len(a), len(b)))
	for round := range each {
		each[round] = a[round] / b[round]
	}
	return median(each)
}

// nearestRank is the smallest value that at least the share q of all values
// does not exceed. The values are sorted.
func nearestRank(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	// 0.999 times 1000 is a little more than 999.
	rank := int(math.Ceil(q * float64(len(sorted)) * (1 - 1e-12)))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// errorPercent is how far a value is from the truth, in percent of that.
func errorPercent(value, truth time.Duration) float64 {
	if truth == 0 {
		return 0
	}
	return 100 * (float64(value) - float64(truth)) / float64(truth)
}

// spread is the median of values, with the smallest and the largest.
func spread(values []float64) string {
	return fmt.Sprintf("%.0f (%.0f..%.0f)", median(values), slices.Min(values), slices.Max(values))
}

// typical is the median of one figure of many results, with so many digits.
func typical[T any](list []T, of func(T) float64, n int) string {
	return digits(median(column(list, of)), n)
}

// column is one figure of many results.
func column[T any](list []T, of func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}
