package statistics

import (
	"cmp"
	"math"
	"slices"
)

// Sample is what one side has of a figure, on a scale on which differences add up: the logarithm
// of a time or a rate, or the Angle of a share.
type Sample struct {
	// Values are those of the repetitions; one or more.
	Values []float64
	// Error is the standard error of each of them, of what was sampled in it; 0 or more.
	Error float64
	// Between is the standard deviation of a value from one run to another of the same thing.
	// It counts where repetitions are too few to show it.
	Between float64
}

// LeastRepetitions is how many repetitions of either side show how far they differ by chance.
const LeastRepetitions = 3

// Angle is the arcsine of the root of a share. Its standard error is 1/(2 √n), whatever the share
// is (Anscombe, "The transformation of Poisson, binomial and negative-binomial data", 1948).
func Angle(share float64) float64 { return math.Asin(math.Sqrt(min(max(share, 0), 1))) }

// Chance is how probable a difference of this size or a larger one is, either way, where there is
// none. With LeastRepetitions of both it is Welch's test ("The generalization of 'Student's'
// problem", 1947) of the means, in which no variance is less than that of what was sampled.
// With fewer it is the normal test of the values in the middle.
func Chance(before, after Sample) float64 {
	if min(len(before.Values), len(after.Values)) < LeastRepetitions {
		variance := before.ofOne() + after.ofOne()
		return normal(distance(middle(after.Values), middle(before.Values), variance))
	}
	n, m := float64(len(before.Values)), float64(len(after.Values))
	a, b := before.variance()/n, after.variance()/m
	freedom := (a + b) * (a + b) / (a*a/(n-1) + b*b/(m-1))
	if a+b == 0 {
		freedom = n + m - 2
	}
	return student(distance(mean(after.Values), mean(before.Values), a+b), freedom)
}

// distance is a difference in standard deviations.
func distance(a, b, variance float64) float64 {
	switch {
	case a == b:
		return 0
	case variance == 0:
		return math.Inf(1)
	}
	return math.Abs(a-b) / math.Sqrt(variance)
}

// ofOne is the variance of a single value.
func (s Sample) ofOne() float64 { return s.Error*s.Error + s.Between*s.Between }

// variance is that of the repetitions, and not less than that of what was sampled in each.
func (s Sample) variance() float64 {
	center, sum := mean(s.Values), 0.0
	for _, v := range s.Values {
		sum += (v - center) * (v - center)
	}
	return max(sum/float64(len(s.Values)-1), s.Error*s.Error)
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// middle is the lower one of two.
func middle(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// Holm says which of several probabilities are so small that in at most a part level of all
// families of comparisons in which nothing differs one is called so, however they depend on each
// other (Holm, "A simple sequentially rejective multiple test procedure", 1979): the least of m
// is at most level/m, the next at most level/(m-1), and so on up to the first that is not.
func Holm(chances []float64, level float64) []bool {
	order := make([]int, len(chances))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chances[a], chances[b]) })
	small := make([]bool, len(chances))
	for rank, i := range order {
		if chances[i]*float64(len(chances)-rank) > level {
			break
		}
		small[i] = true
	}
	return small
}

// normal is the probability of a standard normal value at least so far from 0.
func normal(z float64) float64 { return math.Erfc(z / math.Sqrt2) }

// student is the probability of a value of Student's t at least so far from 0:
// I_x(ν/2, 1/2) with x = ν/(ν+t²), I the regularized incomplete beta function.
func student(t, freedom float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return incompleteBeta(freedom/(freedom+t*t), freedom/2, 0.5)
}

// incompleteBeta is I_x(a, b), by its continued fraction (Abramowitz and Stegun, 26.5.8) in
// Lentz's way, on the side on which that converges fast.
func incompleteBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(1-x, b, a)
	}
	logGamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	front := math.Exp(logGamma(a+b)-logGamma(a)-logGamma(b)+a*math.Log(x)+b*math.Log(1-x)) / a
	const tiny, enough, most = 1e-300, 1e-14, 500
	c, d := 1.0, 1/(1-(a+b)*x/(a+1))
	sum := d
	for i := 1; i <= most; i++ {
		m := float64(i)
		step := 1.0
		for _, term := range []float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			d, c = 1/away(1+term*d, tiny), away(1+term/c, tiny)
			step = c * d
			sum *= step
		}
		if math.Abs(step-1) < enough {
			break
		}
	}
	return front * sum
}

// away is a number that is not 0.
func away(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
