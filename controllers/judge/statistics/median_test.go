package statistics_test

import (
	"math/big"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

func TestPercentOfAFactor(t *testing.T) {
	for factor, want := range map[*big.Rat]string{big.NewRat(5, 4): "25", big.NewRat(1, 1): "0", big.NewRat(1, 2): "-50"} {
		if got := statistics.Percent(factor).RatString(); got != want {
			t.Errorf("a factor of %v is %s %%, want %s", factor, got, want)
		}
	}
}

func TestMiddleIsOneOfTheValues(t *testing.T) {
	values := []*big.Rat{big.NewRat(9, 1), big.NewRat(1, 1), big.NewRat(4, 1), big.NewRat(7, 1)}
	for n, want := range []string{"", "9", "1", "4", "4"} {
		got := statistics.Middle(values[:n])
		if (got == nil) != (want == "") || got != nil && got.RatString() != want {
			t.Errorf("the middle of %v is %v, want %s", values[:n], got, want)
		}
	}
	if values[0].RatString() != "9" {
		t.Error("the values were sorted")
	}
}
