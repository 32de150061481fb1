package changepoint

import (
	"math"
	"slices"
)

const (
	// LeastRuns is how many runs a level has at least: two may be chance.
	LeastRuns = 3
	// leastNoise is the least deviation of a run, as a part of its value: what differs by less is
	// of no interest.
	leastNoise = 0.01
	// penalty is what a change costs, times ln n.
	penalty = 4
	// farOff is from how many deviations on a run is an outlier, and around how many runs on either
	// side it is looked for.
	farOff, around = 3, 2
	// perDeviation is the median of the absolute values of a normal distribution, in deviations.
	perDeviation = 0.6745
)

// Change is where a level ends and another begins.
type Change struct {
	// At is the index of the first value of the new level.
	At int
	// Before and After are the medians of the values of both levels.
	Before, After float64
}

// Ratio is what the new level is of the one before.
func (c Change) Ratio() float64 { return c.After / c.Before }

// Of finds the changes of a level in values that are greater than 0, the oldest first.
func Of(values []float64) []Change {
	n := len(values)
	if n < 2*LeastRuns {
		return nil
	}
	logs := make([]float64, n)
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	noise := max(leastNoise, deviation(logs))
	starts := cheapest(withoutOutliers(logs, noise), noise)
	var list []Change
	for i := 1; i < len(starts); i++ {
		end := n
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		list = append(list, Change{At: starts[i], Before: median(values[starts[i-1]:starts[i]]), After: median(values[starts[i]:end])})
	}
	return list
}

// deviation is that of a single value around its level.
func deviation(values []float64) float64 {
	steps := make([]float64, len(values)-1)
	for i := range steps {
		steps[i] = math.Abs(values[i+1] - values[i])
	}
	return median(steps) / perDeviation / math.Sqrt2
}

// withoutOutliers has the median of those around it in the place of each value that is far from it.
func withoutOutliers(values []float64, noise float64) []float64 {
	kept := slices.Clone(values)
	for i := range values {
		middle := median(values[max(0, i-around):min(len(values), i+around+1)])
		if math.Abs(values[i]-middle) > farOff*noise {
			kept[i] = middle
		}
	}
	return kept
}

// cheapest is the partition that costs least: the first index of each level.
func cheapest(values []float64, noise float64) []int {
	n := len(values)
	sums, squares := make([]float64, n+1), make([]float64, n+1)
	for i, v := range values {
		sums[i+1], squares[i+1] = sums[i]+v, squares[i]+v*v
	}
	cost := func(from, to int) float64 {
		sum := sums[to] - sums[from]
		return (squares[to] - squares[from] - sum*sum/float64(to-from)) / (noise * noise)
	}
	each := penalty * math.Log(float64(n))
	// best is the least cost of the first so many values, and last where their last level begins.
	best, last := make([]float64, n+1), make([]int, n+1)
	best[0] = -each
	for to := 1; to <= n; to++ {
		best[to] = math.Inf(1)
		for from := 0; from <= to-LeastRuns; from++ {
			if c := best[from] + cost(from, to) + each; c < best[to] {
				best[to], last[to] = c, from
			}
		}
	}
	var starts []int
	for to := n; to > 0; to = last[to] {
		starts = append(starts, last[to])
	}
	slices.Reverse(starts)
	return starts
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
