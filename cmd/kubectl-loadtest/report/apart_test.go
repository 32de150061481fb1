package report

import (
	"math/big"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

func TestValuesAreApart(t *testing.T) {
	for _, tt := range []struct {
		measured, without string
		want              bool
	}{
		{"3820.1", "3820.4", false}, {"100", "98", false}, {"100", "97.9", true}, {"100", "102.1", true},
		{"0", "0", false}, {"0", "1", true}, {"-10", "-10.1", false}, {"-10", "10", true},
	} {
		measured, _ := new(big.Rat).SetString(tt.measured)
		without, _ := new(big.Rat).SetString(tt.without)
		same.As(t, "areValuesApart("+tt.measured+", "+tt.without+")", tt.want, areValuesApart(measured, without))
	}
}

func TestTimesAreApart(t *testing.T) {
	for _, tt := range []struct {
		measured, without time.Duration
		want              bool
	}{
		{1370 * ms, 10 * ms, true}, {5 * ms, 4 * ms, true}, {10 * ms, 20 * ms, true}, {100 * ms, 97 * ms, true},
		{10 * ms, 10 * ms, false},
		{5 * ms, 4001 * time.Microsecond, false}, // less than a millisecond
		{100 * ms, 98 * ms, false},               // 2 %
	} {
		if got := areTimesApart(tt.measured, tt.without); got != tt.want {
			t.Errorf("areTimesApart(%v, %v) = %t, want %t", tt.measured, tt.without, got, tt.want)
		}
	}
}
