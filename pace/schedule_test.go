package pace

import (
	"math"
	"math/big"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestWarmUpIsDueBeforeZero(t *testing.T) {
	warmed := NewWarmed(Rate(2e6), 2*time.Second, Rate(10e6))
	var got []time.Duration
	for i := range int64(7) {
		got = append(got, warmed.Due(i))
	}
	want := []time.Duration{-2e9, -15e8, -1e9, -5e8, 0, 1e8, 2e8}
	same.As(t, "due times", want, got)
	counts := map[time.Duration]int64{-2e9: 0, -2e9 + 1: 1, -1: 4, 0: 4, 1: 5, 2e8: 6}
	for at, want := range counts {
		if got := warmed.Before(at); got != want {
			t.Errorf("before %v: %d hits, want %d", at, got, want)
		}
	}
}

// Together the workers have the whole main schedule in the window, whatever the
// number of their hits in the warm-up.
func TestSharesOfWarmedArrivalsAreTheWholeSchedule(t *testing.T) {
	property := func(rate uint16, workers uint8, millis uint16) bool {
		r, warmUp, window := Rate(rate)*1e4+1, time.Duration(millis)*time.Millisecond, time.Second
		n := int64(workers%7) + 1
		sum := int64(0)
		shares := split(r.Before(window), n)
		for w, warm := range split(r.Before(warmUp), n) {
			s := NewWarmed(Arrivals{r, warm}, warmUp, Arrivals{r, shares[w]})
			if s.Before(-warmUp) != 0 || s.Before(0) != warm.Count {
				return false
			}
			last := -warmUp
			for i := range s.Before(window) {
				if due := s.Due(i); due < last || (due < 0) != (i < warm.Count) {
					return false
				}
				last = s.Due(i)
			}
			sum += s.Before(window) - s.Before(0)
		}
		return sum == r.Before(window)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestUsersInTheWarmUpAreDueBeforeZero(t *testing.T) {
	cold := Users{Rate: 3e6, Share: Share{First: 1, Stride: 2, Count: 2}, Total: 4}
	warm := cold
	warm.WarmUp = 5 * time.Second
	for n := range int64(20) {
		j, k := cold.Turn(n)
		if got, want := warm.Due(j, k), cold.Due(j, k)-5*time.Second; got != want {
			t.Errorf("request %d is due at %v, want %v", n, got, want)
		}
		if got, want := warm.Before(time.Duration(n)*time.Second), cold.Before(time.Duration(n+5)*time.Second); got != want {
			t.Errorf("before %d s: %d, want %d", n, got, want)
		}
	}
}

func TestRateDue(t *testing.T) {
	tests := map[string]struct {
		rate Rate
		hit  int64
		want time.Duration
	}{
		"the first hit is due at once":      {rate: 1, hit: 0, want: 0},
		"one a second":                      {rate: 1e6, hit: 3, want: 3 * time.Second},
		"1000 a second":                     {rate: 1e9, hit: 1500, want: 1500 * time.Millisecond},
		"three a second, rounded down":      {rate: 3e6, hit: 1, want: 333_333_333},
		"no error piles up over 3e9 hits":   {rate: 3e6, hit: 3e9, want: 1e9 * time.Second},
		"one in a million seconds":          {rate: 1, hit: 2, want: 2e6 * time.Second},
		"beyond what a duration can hold":   {rate: 1, hit: math.MaxInt64, want: math.MaxInt64},
		"beyond a duration, within 64 bits": {rate: 1, hit: 9300, want: math.MaxInt64},
		"the first beyond 64 bits":          {rate: 1, hit: 18447, want: math.MaxInt64},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.rate.Due(tt.hit); got != tt.want {
				t.Errorf("Rate(%d).Due(%d) = %v, want %v", tt.rate, tt.hit, got, tt.want)
			}
		})
	}
}

func TestDueAgreesWithBigArithmetic(t *testing.T) {
	property := func(rate, hit int64) bool {
		r, i := Rate(rate&(1<<50-1)+1), hit&math.MaxInt64
		want := new(big.Int).Mul(big.NewInt(i), big.NewInt(nanosPerUnit))
		want.Quo(want, big.NewInt(int64(r)))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		return int64(r.Due(i)) == want.Int64()
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestRateBefore(t *testing.T) {
	tests := map[string]struct {
		rate Rate
		t    time.Duration
		want int64
	}{
		"nothing before the start":             {rate: 1e9, t: 0, want: 0},
		"nothing before that":                  {rate: 1e9, t: -time.Second, want: 0},
		"the first at once":                    {rate: 1, t: 1, want: 1},
		"a hit at the very end is not in":      {rate: 1e6, t: 3 * time.Second, want: 3},
		"one just before the end is":           {rate: 1e6, t: 3*time.Second + 1, want: 4},
		"half a hit is rounded up":             {rate: 1_500_000, t: time.Second, want: 2},
		"a day at a million a second":          {rate: 1e12, t: 24 * time.Hour, want: 86_400_000_000},
		"a quotient beyond 64 bits is clamped": {rate: math.MaxInt64, t: math.MaxInt64, want: math.MaxInt64},
		"one that just is":                     {rate: 2_000_000_000_000_002, t: math.MaxInt64, want: math.MaxInt64},
		"one beyond 63 bits":                   {rate: 1_500_000_000_000_000, t: math.MaxInt64, want: math.MaxInt64},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.rate.Before(tt.t); got != tt.want {
				t.Errorf("Rate(%d).Before(%v) = %d, want %d", tt.rate, tt.t, got, tt.want)
			}
		})
	}
}

// The count and the due times agree to the nanosecond: due = sent + unsent depends on
// it.
func TestBeforeCountsExactlyTheHitsThatAreDue(t *testing.T) {
	property := func(rate uint32, nanos uint32) bool {
		r, limit := Rate(rate)*1000+1, time.Duration(nanos)*100+1
		n := r.Before(limit)
		return (n == 0 || r.Due(n-1) < limit) && r.Due(n) >= limit
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 10000}); err != nil {
		t.Error(err)
	}
}

func TestDueTimesNeverDecrease(t *testing.T) {
	property := func(rate uint32, hit uint32) bool {
		r, i := Rate(rate)+1, int64(hit)
		return r.Due(i) <= r.Due(i+1)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestPerSecond(t *testing.T) {
	if got := Rate(2_500_000).PerSecond(); got != 2.5 {
		t.Errorf("PerSecond() = %v, want 2.5", got)
	}
}
