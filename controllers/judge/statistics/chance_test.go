package statistics_test

import (
	"math"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// Of repetitions, the values are those of published tables of Student's t: with two groups of
// three and equal variances, 2.776 of four degrees of freedom is at 5 %, and 4.604 at 1 %.
func TestChanceIsThatOfPublishedTables(t *testing.T) {
	// Values -d, 0, d have the variance d²; the difference of means has 2d²/3.
	three := func(center float64) statistics.Sample {
		return statistics.Sample{Values: []float64{center - 1, center, center + 1}}
	}
	one := func(v, err, between float64) statistics.Sample {
		return statistics.Sample{Values: []float64{v}, Error: err, Between: between}
	}
	root := math.Sqrt(2.0 / 3)
	for name, tc := range map[string]struct {
		before, after statistics.Sample
		want          float64
	}{
		"the same":                        {three(0), three(0), 1},
		"four degrees of freedom":         {three(0), three(2.776445 * root), 0.05},
		"downward":                        {three(0), three(-4.604095 * root), 0.01},
		"single runs":                     {one(0, 0.6, 0.8), one(1.959964*math.Sqrt2, 0.8, 0.6), 0.05},
		"one against many":                {one(0, 0, 1), statistics.Sample{Values: []float64{9, 1.959964 * math.Sqrt2, -9}, Between: 1}, 0.05},
		"equal repetitions of no error":   {statistics.Sample{Values: []float64{1, 1, 1}}, statistics.Sample{Values: []float64{2, 2, 2}}, 0},
		"no difference, no error":         {statistics.Sample{Values: []float64{1, 1, 1}}, statistics.Sample{Values: []float64{1, 1, 1}}, 1},
		"equal repetitions of some error": {statistics.Sample{Values: []float64{0, 0, 0}, Error: 1}, statistics.Sample{Values: []float64{1, 1, 1}, Error: 1}, 0.2879},
	} {
		if got := statistics.Chance(tc.before, tc.after); math.Abs(got-tc.want) > 1e-4 {
			t.Errorf("%s: %.6f, want %.6f", name, got, tc.want)
		}
		if a, b := statistics.Chance(tc.before, tc.after), statistics.Chance(tc.after, tc.before); math.Abs(a-b) > 1e-12 {
			t.Errorf("%s: %g one way and %g the other", name, a, b)
		}
	}
}

// With a spread on one side alone there are two degrees of freedom, and the probability is known
// in a closed form: 1 - t/√(t²+2).
func TestChanceOfTwoDegreesOfFreedom(t *testing.T) {
	for _, x := range []float64{0.1, 1, 2, 5, 50} {
		before := statistics.Sample{Values: []float64{-1, 0, 1}}
		after := statistics.Sample{Values: slices.Repeat([]float64{x / math.Sqrt(3)}, 3)}
		if got, want := statistics.Chance(before, after), 1-x/math.Sqrt(x*x+2); math.Abs(got-want) > 1e-9 {
			t.Errorf("t=%g: %g, want %g", x, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	for name, tc := range map[string]struct {
		chances []float64
		want    []bool
	}{
		"none":                {nil, []bool{}},
		"one":                 {[]float64{0.05}, []bool{true}},
		"of two":              {[]float64{0.04, 0.026}, []bool{false, false}},
		"the second":          {[]float64{0.05, 0.025}, []bool{true, true}},
		"Holm's own order":    {[]float64{0.01, 0.04, 0.03, 0.005}, []bool{true, false, false, true}},
		"nothing after a gap": {[]float64{0.5, 0.03, 0.03}, []bool{false, false, false}},
	} {
		if got := statistics.Holm(tc.chances, 0.05); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestAngleOfAShare(t *testing.T) {
	for share, want := range map[float64]float64{0: 0, 0.5: math.Pi / 4, 1: math.Pi / 2, 1.5: math.Pi / 2, -1: 0} {
		if got := statistics.Angle(share); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g: %g, want %g", share, got, want)
		}
	}
}
