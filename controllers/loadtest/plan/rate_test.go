package plan_test

import (
	"math/big"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMicros(t *testing.T) {
	tests := map[string]int64{
		"1":                1_000_000,
		"0.5":              500_000,
		"12000":            12_000_000_000,
		"0.000001":         1,
		"0.100000":         100_000,
		"999999999.999999": 999_999_999_999_999,
	}
	for in, want := range tests {
		if got, err := plan.Micros(v1beta1.NewDecimal(in)); err != nil || got != want {
			t.Errorf("Micros(%s) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".5", "-1", "+1", "1e3", "1.0000001", "1000000000", "1.-5", "1_0", "0x1", " 1"} {
		if got, err := plan.Micros(v1beta1.NewDecimal(in)); err == nil {
			t.Errorf("Micros(%q) = %d, want an error", in, got)
		}
	}
}

// Where to is empty, the rate is constant.
func TestHitsOfArrivalsAndRamps(t *testing.T) {
	tests := map[string]struct {
		from, to string
		duration time.Duration
		want     int64
	}{
		"whole":                            {"5", "", 3 * time.Second, 15},
		"the hit at the end is not due":    {"10", "", 100 * time.Millisecond, 1},
		"a hit just before the end is":     {"10", "", 100*time.Millisecond + 1, 2},
		"the first hit is due at once":     {"0.000001", "", 100 * time.Millisecond, 1},
		"a third of a second, no float":    {"3", "", time.Second / 3, 1},
		"just over a third of a second":    {"3", "", time.Second/3 + 1, 2},
		"the largest rate for a whole day": {"999999999.999999", "", 24 * time.Hour, 86_400*999_999_999 + 86_400},
		"up":                               {"10", "30", 3 * time.Second, 60},
		"down is the same":                 {"30", "10", 3 * time.Second, 60},
		"to where it was is constant":      {"5", "5", 3 * time.Second, 15},
		"a part of a request counts":       {"1", "2", time.Second, 2},
		"the hit at the end of a ramp":     {"1", "3", time.Second, 2},
		"but just before the end":          {"1", "3", time.Second + 1, 3},
		"an odd sum, halved exactly":       {"0.00001", "0.00002", 200_000 * time.Second / 3, 1},
		"small rates, and no more":         {"0.00001", "0.00002", 200_000*time.Second/3 + 1, 2},
		"the largest rates for a day":      {"999999999.999999", "999999999.999999", 24 * time.Hour, 86_400*999_999_999 + 86_400},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			step := v1beta1.Step{Name: "steady", Rate: decimal(tc.from), Duration: duration(tc.duration)}
			if tc.to != "" {
				step.RampTo = decimal(tc.to)
			}
			same.As(t, "hits", tc.want, plan.Steps(withSteps(step))[0].Load.Requests)
		})
	}
}

// Hit i of a ramp is due at the t with H(t) = i. No root is needed to count those
// before d: H grows, so that due(i) < d exactly if i < H(d). H(d) is computed as the
// formula stands, in fractions. A constant rate is a ramp to itself.
func TestHitsAreThoseDueBeforeTheEnd(t *testing.T) {
	decimalOf := func(micros int64) *v1beta1.Decimal { return decimal(big.NewRat(micros, 1_000_000).FloatString(6)) }
	property := func(from, to, nanos uint32, constant bool) bool {
		a, b, d := int64(from)+1, int64(to)+1, int64(nanos)+int64(100*time.Millisecond)
		step := v1beta1.Step{Name: "steady", Rate: decimalOf(a), RampTo: decimalOf(b), Duration: duration(time.Duration(d))}
		if constant {
			b, step.RampTo = a, nil
		}
		total := plan.Steps(withSteps(step))[0].Load.Requests
		// H(d) of the formula in requests, from rates and seconds as they stand there.
		rateA, rateB, end := big.NewRat(a, 1_000_000), big.NewRat(b, 1_000_000), big.NewRat(d, int64(time.Second))
		linear := new(big.Rat).Mul(rateA, end)
		square := new(big.Rat).Mul(end, end)
		square.Mul(square, new(big.Rat).Sub(rateB, rateA))
		square.Quo(square, new(big.Rat).Mul(end, big.NewRat(2, 1)))
		due := linear.Add(linear, square)
		return big.NewRat(total-1, 1).Cmp(due) < 0 && big.NewRat(total, 1).Cmp(due) >= 0
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 200}); err != nil {
		t.Error(err)
	}
}
