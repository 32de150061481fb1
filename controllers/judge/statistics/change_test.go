package statistics_test

import (
	"math/big"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

func rats(list ...int64) []*big.Rat {
	var all []*big.Rat
	for _, n := range list {
		all = append(all, big.NewRat(n, 1))
	}
	return all
}

func text(r *big.Rat) string {
	if r == nil {
		return "none"
	}
	return r.FloatString(3)
}

// The ranks are those of the published tables of the one-sided test at 5 %: the greatest
// U that is significant is k-1, so that 5 against 5 have 4, 8 against 10 have 20.
func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after     []*big.Rat
		factor, low, high string
		tested            bool
	}{
		"one of each":                   {rats(100), rats(110), "1.100", "1.100", "1.100", false},
		"one against three":             {rats(100), rats(110, 90, 120), "1.100", "0.900", "1.200", false},
		"two of each":                   {rats(100, 200), rats(100, 200), "1.000", "0.500", "2.000", false},
		"three of each":                 {rats(100, 100, 100), rats(120, 121, 122), "1.210", "1.200", "1.220", true},
		"two against four":              {rats(100, 100), rats(120, 121, 122, 123), "1.215", "1.200", "1.230", false},
		"two against five":              {rats(100, 100), rats(120, 121, 122, 123, 124), "1.220", "1.200", "1.240", true},
		"five of each: the fifth":       {rats(100, 100, 100, 100, 100), rats(101, 102, 103, 104, 105), "1.030", "1.010", "1.050", true},
		"an outlier does not count":     {rats(100, 100, 100, 100, 900), rats(120, 120, 120, 120, 120), "1.200", "0.133", "1.200", true},
		"nothing before and after":      {rats(0), rats(0), "1.000", "1.000", "1.000", false},
		"something from nothing":        {rats(0), rats(7), "none", "none", "none", false},
		"nothing from something":        {rats(7), rats(0), "0.000", "0.000", "0.000", false},
		"sometimes from nothing":        {rats(0, 0, 0), rats(0, 0, 7), "1.000", "1.000", "none", true},
		"between two, one from nothing": {rats(0, 1), rats(3), "none", "3.000", "none", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := statistics.Of(tc.before, tc.after)
			if !ok || text(c.Factor) != tc.factor || text(c.Low) != tc.low || text(c.High) != tc.high || c.Tested != tc.tested {
				t.Errorf("factor %s between %s and %s, tested %t; want %s between %s and %s, tested %t", text(c.Factor), text(c.Low), text(c.High), c.Tested, tc.factor, tc.low, tc.high, tc.tested)
			}
		})
	}
}

func TestNothingToCompare(t *testing.T) {
	for _, sides := range [][2][]*big.Rat{{nil, rats(1)}, {rats(1), nil}, {}} {
		if _, ok := statistics.Of(sides[0], sides[1]); ok {
			t.Errorf("%v and %v were compared", sides[0], sides[1])
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after   []*big.Rat
		limit           *big.Rat
		atMost, atLeast statistics.Answer
	}{
		"below":             {rats(100), rats(105), big.NewRat(11, 10), statistics.Yes, statistics.No},
		"exactly":           {rats(100), rats(110), big.NewRat(11, 10), statistics.Yes, statistics.Yes},
		"above":             {rats(100), rats(111), big.NewRat(11, 10), statistics.No, statistics.Yes},
		"around":            {rats(100), rats(105, 120), big.NewRat(11, 10), statistics.Unsure, statistics.Unsure},
		"from the limit on": {rats(100), rats(110, 120), big.NewRat(11, 10), statistics.Unsure, statistics.Yes},
		"up to the limit":   {rats(100), rats(100, 110), big.NewRat(11, 10), statistics.Yes, statistics.Unsure},
		"from nothing":      {rats(0), rats(1), big.NewRat(11, 10), statistics.No, statistics.Yes},
		"still nothing":     {rats(0), rats(0), big.NewRat(11, 10), statistics.Yes, statistics.No},
		"to nothing":        {rats(5), rats(0), big.NewRat(9, 10), statistics.Yes, statistics.No},
		"maybe something":   {rats(0, 0, 0), rats(0, 0, 1), big.NewRat(11, 10), statistics.Unsure, statistics.Unsure},
		"all above, tested": {rats(100, 101, 102), rats(120, 121, 122), big.NewRat(11, 10), statistics.No, statistics.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := statistics.Of(tc.before, tc.after)
			if atMost, atLeast := c.AtMost(tc.limit), c.AtLeast(tc.limit); atMost != tc.atMost || atLeast != tc.atLeast {
				t.Errorf("at most: %d, at least: %d; want %d and %d", atMost, atLeast, tc.atMost, tc.atLeast)
			}
		})
	}
}
