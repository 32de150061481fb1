package statistics_test

import (
	"math/big"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

func TestBoundsOfPairs(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after     []*big.Rat
		factor, low, high string
		tested            bool
	}{
		"one pair":                         {rats(100), rats(110), "1.100", "1.100", "1.100", false},
		"four pairs":                       {rats(100, 100, 100, 100), rats(110, 110, 110, 110), "1.100", "1.100", "1.100", false},
		"five pairs: the least":            {rats(100, 100, 100, 100, 100), rats(104, 101, 105, 102, 103), "1.030", "1.010", "1.050", true},
		"what a pair shares does not tell": {rats(100, 200, 400, 800, 1600), rats(120, 240, 480, 960, 1920), "1.200", "1.200", "1.200", true},
		"five pairs, one of another sign":  {rats(100, 100, 100, 100, 100), rats(99, 120, 120, 120, 120), "1.200", "0.990", "1.200", true},
		// Of six, the third: the root of 1.96.
		"six pairs, roots of fractions": {rats(100, 100, 100, 100, 100, 100), rats(100, 144, 196, 400, 400, 400), "2.400", "1.400", "4.000", true},
		"nothing from nothing":          {rats(0, 0, 0, 0, 0), rats(0, 0, 0, 0, 0), "1.000", "1.000", "1.000", true},
		"something from nothing":        {rats(0, 0, 0, 0, 0), rats(1, 1, 1, 1, 1), "none", "none", "none", true},
		"once something from nothing":   {rats(0, 0, 0, 0, 0), rats(0, 0, 0, 0, 1), "1.000", "1.000", "none", true},
		"to and from nothing":           {rats(7, 0), rats(0, 7), "1.000", "0.000", "none", false},
		"from nothing and no change":    {rats(0, 7), rats(7, 7), "none", "1.000", "none", false},
		"no change and from nothing":    {rats(7, 0), rats(7, 7), "none", "1.000", "none", false},
		"from and to nothing":           {rats(0, 7), rats(7, 0), "1.000", "0.000", "none", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := statistics.OfPairs(tc.before, tc.after)
			if !ok || text(c.Factor) != tc.factor || text(c.Low) != tc.low || text(c.High) != tc.high || c.Tested != tc.tested {
				t.Errorf("factor %s between %s and %s, tested %t; want %s between %s and %s, tested %t", text(c.Factor), text(c.Low), text(c.High), c.Tested, tc.factor, tc.low, tc.high, tc.tested)
			}
		})
	}
	if _, ok := statistics.OfPairs(nil, nil); ok {
		t.Error("no pairs were compared")
	}
	if _, ok := statistics.OfPairs(rats(1, 2), rats(1)); ok {
		t.Error("half a pair was compared")
	}
}

// A mean that is a fraction is exact: a limit of 40 % is kept by 40 %.
func TestRootOfAFractionIsExact(t *testing.T) {
	c, _ := statistics.OfPairs(rats(100, 100, 100, 100, 100, 100), rats(100, 144, 196, 400, 400, 400))
	if c.Low.Cmp(big.NewRat(14, 10)) != 0 {
		t.Errorf("the root of 1.96 is %s", c.Low.FloatString(15))
	}
}

// Every choice of signs is as likely as any: of the ratios of n pairs that differ from the
// factor by 2, 4, 8 …, up or down, the bounds are wrong in at most one of 20.
func TestBoundsOfPairsAreWrongInOneOf20(t *testing.T) {
	for n := 1; n <= 10; n++ {
		lowWrong, highWrong, tested := 0, 0, true
		for signs := range 1 << n {
			var before, after []*big.Rat
			for i := range n {
				ratio := big.NewRat(1<<(i+1), 1)
				if signs>>i&1 == 1 {
					ratio.Inv(ratio)
				}
				before, after = append(before, big.NewRat(1, 1)), append(after, ratio)
			}
			c, _ := statistics.OfPairs(before, after)
			tested = tested && c.Tested
			if c.AtMost(big.NewRat(1, 1)) == statistics.No {
				lowWrong++
			}
			if c.AtLeast(big.NewRat(1, 1)) == statistics.No {
				highWrong++
			}
		}
		if tested != (n >= 5) {
			t.Errorf("%d pairs are tested: %t", n, tested)
		}
		if most := (1 << n) / 20; tested && (lowWrong > most || highWrong > most || lowWrong == 0 || lowWrong != highWrong) {
			t.Errorf("%d pairs: of %d choices of signs the lower bound is wrong in %d, the upper in %d", n, 1<<n, lowWrong, highWrong)
		}
	}
}
