package changepoint_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
)

func TestChangesOfKnownHistories(t *testing.T) {
	level := func(parts ...[]float64) []float64 { return slices.Concat(parts...) }
	many := func(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }
	for name, tc := range map[string]struct {
		values []float64
		want   []changepoint.Change
	}{
		"nothing":                   {nil, nil},
		"too few":                   {level(many(10, 3), many(20, 2)), nil},
		"the same for ever":         {many(10, 50), nil},
		"three of either":           {level(many(10, 3), many(20, 3)), []changepoint.Change{{At: 3, Before: 10, After: 20}}},
		"up and down again":         {level(many(10, 8), many(13, 5), many(10, 8)), []changepoint.Change{{At: 8, Before: 10, After: 13}, {At: 13, Before: 13, After: 10}}},
		"one run that is far off":   {level(many(10, 8), many(40, 1), many(10, 8)), nil},
		"two runs that are far off": {level(many(10, 8), many(40, 2), many(10, 8)), nil},
		"half a percent":            {level(many(10, 20), many(10.05, 20)), nil},
		"the last three":            {level(many(10, 20), many(12, 3)), []changepoint.Change{{At: 20, Before: 10, After: 12}}},
		"an outlier at the change":  {level(many(10, 9), many(40, 1), many(15, 9)), []changepoint.Change{{At: 9, Before: 10, After: 15}}},
	} {
		if got := changepoint.Of(tc.values); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
	if r := (changepoint.Change{Before: 10, After: 12}).Ratio(); r != 1.2 {
		t.Errorf("the ratio is %v", r)
	}
}

// history is a simulated one: of so many runs, or of 60 with a change after 20 and another after 40.
type history struct {
	name         string
	runs         int
	noise        float64 // of a run, relative
	change       float64 // each, as a factor; 1: there is none
	outliers     float64 // part of runs that take twice as long
	found, false float64 // bounds: of the changes, and for each history
}

// Most changes are found, and few that are none. E-divisive is beside it.
func TestSimulatedHistories(t *testing.T) {
	const each, ofReference = 400, 30
	for _, h := range []history{
		{name: "no change", noise: 0.05, change: 1, false: 0.03},
		{name: "no change, few runs", runs: 10, noise: 0.05, change: 1, false: 0.08},
		{name: "no change, outliers", noise: 0.05, change: 1, outliers: 0.05, false: 0.12},
		{name: "10 % in a noise of 3 %", noise: 0.03, change: 1.1, found: 0.9, false: 0.15},
		{name: "20 % in a noise of 5 %", noise: 0.05, change: 1.2, found: 0.95, false: 0.1},
		{name: "20 % in a noise of 5 %, outliers", noise: 0.05, change: 1.2, outliers: 0.05, found: 0.9, false: 0.15},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var ours, theirs tally
		for i := range each {
			values := h.draw(r)
			var at []int
			for _, c := range changepoint.Of(values) {
				at = append(at, c.At)
			}
			ours.add(h, at)
			if i < ofReference {
				theirs.add(h, divisive(values, r))
			}
		}
		t.Logf("trend: history=%q found=%.2f false=%.2f e-divisive-found=%.2f e-divisive-false=%.2f", h.name, ours.found(each), ours.wrong(each), theirs.found(ofReference), theirs.wrong(ofReference))
		if h.change != 1 && ours.found(each) < h.found || ours.wrong(each) > h.false {
			t.Errorf("%s: %.2f found, %.2f false; want at least %.2f, at most %.2f", h.name, ours.found(each), ours.wrong(each), h.found, h.false)
		}
	}
}

// changes are where a simulated history changes.
var changes = []int{20, 40}

func (h history) draw(r *rand.Rand) []float64 {
	values := make([]float64, cmp.Or(h.runs, 60))
	for i := range values {
		v := 10 * math.Exp(h.noise*r.NormFloat64())
		if i >= changes[0] && i < changes[1] {
			v *= h.change
		}
		if r.Float64() < h.outliers {
			v *= 2
		}
		values[i] = v
	}
	return values
}

// tally counts what was found.
type tally struct{ right, none int }

// add takes a change that is one run beside a true one for it.
func (c *tally) add(h history, at []int) {
	left := slices.Clone(changes)
	for _, i := range at {
		near := slices.IndexFunc(left, func(j int) bool { return h.change != 1 && i >= j-1 && i <= j+1 })
		if near < 0 {
			c.none++
			continue
		}
		c.right++
		left = slices.Delete(left, near, near+1)
	}
}

func (c *tally) found(n int) float64 { return float64(c.right) / float64(n*len(changes)) }
func (c *tally) wrong(n int) float64 { return float64(c.none) / float64(n) }

// divisive is E-divisive with 99 permutations and a level of 5 %.
func divisive(values []float64, r *rand.Rand) []int {
	const permutations, level = 99, 0.05
	var found []int
	var divide func(from, to int)
	divide = func(from, to int) {
		at, best := split(values[from:to])
		if at == 0 {
			return
		}
		mixed, beyond := slices.Clone(values[from:to]), 1
		for range permutations {
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if _, q := split(mixed); q >= best {
				beyond++
			}
		}
		if float64(beyond)/(permutations+1) > level {
			return
		}
		found = append(found, from+at)
		divide(from, from+at)
		divide(from+at, to)
	}
	divide(0, len(values))
	slices.Sort(found)
	return found
}

// split is where two parts of values differ most, by their energy distance; 0: they are too few.
func split(values []float64) (at int, best float64) {
	n := len(values)
	distance := func(a, b []float64) (sum float64) {
		for _, x := range a {
			for _, y := range b {
				sum += math.Abs(x - y)
			}
		}
		return sum
	}
	for i := changepoint.LeastRuns; i <= n-changepoint.LeastRuns; i++ {
		a, b := values[:i], values[i:]
		l, m := float64(len(a)), float64(len(b))
		e := 2*distance(a, b)/(l*m) - distance(a, a)/(l*(l-1)) - distance(b, b)/(m*(m-1))
		if q := l * m / (l + m) * e; q > best {
			at, best = i, q
		}
	}
	return at, best
}
