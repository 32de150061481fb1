package pace

import (
	"math"
	"math/big"
	"testing"
	"testing/quick"
	"time"
)

func TestRampDue(t *testing.T) {
	tests := map[string]struct {
		ramp Ramp
		hit  int64
		want time.Duration
	}{
		"the first at once":             {Ramp{1e6, 3e6, 10 * time.Second}, 0, 0},
		"t + t²/10 = 10":                {Ramp{1e6, 3e6, 10 * time.Second}, 10, 6_180_339_887},
		"falling: 3t - t²/10 = 10":      {Ramp{3e6, 1e6, 10 * time.Second}, 10, 3_819_660_112},
		"the last one before the end":   {Ramp{1e6, 3e6, 10 * time.Second}, 19, 9_662_878_298},
		"one at the very end is not in": {Ramp{1e6, 3e6, 10 * time.Second}, 20, math.MaxInt64},
		"what the ramp does not reach":  {Ramp{1e6, 3e6, 10 * time.Second}, 1000, math.MaxInt64},
		"one whose parts would wrap":    {Ramp{1e6, 3e6, 10 * time.Second}, 1 << 48, math.MaxInt64},
		"an absurd number":              {Ramp{1e6, 3e6, 10 * time.Second}, math.MaxInt64, math.MaxInt64},
		"no slope":                      {Ramp{4e6, 4e6, 10 * time.Second}, 6, 1500 * time.Millisecond},
		// t = 2u and From = To + Length: H(t) = 2u·(From-u)/N, where 5^15 divides u and
		// 2^14 divides From-u.
		"exact, and guessed far off":   {Ramp{97_657_250_001_216, 1216, 97_657_250_000_000}, 4_768_469_238_400, 97_656_250_000_000},
		"exact, and guessed too early": {Ramp{44e5, 44e5, 10 * time.Second}, 33, 7500 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.ramp.Due(tt.hit); got != tt.want {
				t.Errorf("%+v.Due(%d) = %d, want %d", tt.ramp, tt.hit, got, tt.want)
			}
		})
	}
}

// arbitrary returns a ramp of rates from 10^-6 to 10^9 and up to a day.
func arbitrary(from, to, length uint64) Ramp {
	rate := func(n uint64) Rate { return Rate(n>>(n%50)%1e15 + 1) }
	return Ramp{From: rate(from), To: rate(to), Length: time.Duration(length>>(1+length%40))%(24*time.Hour) + 1}
}

// reached returns the sign of H(t) - i, exactly.
func reached(r Ramp, t time.Duration, i int64) int {
	from, slope := big.NewInt(int64(r.From)), big.NewInt(int64(r.To)-int64(r.From))
	d, at := big.NewInt(int64(r.Length)), big.NewInt(int64(t))
	h := new(big.Int).Mul(big.NewInt(2), from)
	h.Mul(h, d)
	h.Add(h, slope.Mul(slope, at))
	h.Mul(h, at)
	want := new(big.Int).Mul(big.NewInt(i), big.NewInt(nanosPerUnit))
	want.Mul(want, big.NewInt(2))
	return h.Cmp(want.Mul(want, d))
}

func TestRampIsExact(t *testing.T) {
	property := func(from, to, length, hit uint64) bool {
		r := arbitrary(from, to, length)
		n := r.Before(r.Length)
		if n > 0 && reached(r, r.Length, n-1) <= 0 || reached(r, r.Length, n) > 0 {
			t.Errorf("%+v has %d hits", r, n)
			return false
		}
		if n == 0 {
			return false // the first is due at once
		}
		i := int64(hit % uint64(n))
		due := r.Due(i)
		ok := due < r.Length && reached(r, due, i) <= 0 && reached(r, due+1, i) > 0
		if !ok {
			t.Errorf("%+v.Due(%d) = %d", r, i, due)
		}
		return ok && r.Before(due) <= i && r.Before(due+1) > i && r.Due(i+1) >= due
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

// Where a ramp nearly stops, the guess in floating point is worst.
func TestRampIsExactWhereItNearlyStops(t *testing.T) {
	for _, from := range []Rate{1e3, 7e6, 1e9, 3e12, 1e15} {
		for _, length := range []time.Duration{time.Second, 11 * time.Minute, time.Hour, 24*time.Hour - 1, MaxRamp} {
			r := Ramp{From: from, To: 1, Length: length}
			n := r.Before(length)
			for i := n - 1; i >= max(0, n-20); i-- {
				due := r.Due(i)
				if due < 0 || due >= length || reached(r, due, i) > 0 || reached(r, due+1, i) <= 0 {
					t.Errorf("%+v.Due(%d) = %d of %d hits", r, i, due, n)
				}
			}
		}
	}
}

// Each nanosecond that a guess is off by takes comparisons of 192 bits, for every hit.
func TestHitsOfARampAreGuessedToTheNanosecond(t *testing.T) {
	for _, r := range []Ramp{{1e9, 5e9, time.Hour}, {5e9, 1e9, time.Hour}, {3e6, 4e6, 10 * time.Second}, {7e8, 7e8, time.Minute}} {
		n := r.Before(r.Length)
		for i := int64(0); i < n; i += n/50 + 1 {
			if guess, due := r.guess(uint64(i)*part), r.Due(i); (guess - due).Abs() > 5 {
				t.Errorf("%+v: hit %d is guessed at %d, due at %d", r, i, guess, due)
			}
		}
	}
}

// A ramp without slope has the same hits as its rate.
func TestRampWithoutSlopeIsARate(t *testing.T) {
	property := func(rate, length uint64, hit uint32) bool {
		r := arbitrary(rate, rate, length)
		i := int64(hit) % r.Before(r.Length)
		return r.Before(r.Length) == r.From.Before(r.Length) && r.Due(i) == r.From.Due(i)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// A ramp has (From + To)/2 · Length hits.
func TestRampHasItsHits(t *testing.T) {
	tests := map[string]struct {
		ramp Ramp
		want int64
	}{
		"growing":   {Ramp{100e6, 300e6, 10 * time.Second}, 2000},
		"falling":   {Ramp{300e6, 100e6, 10 * time.Second}, 2000},
		"a part":    {Ramp{1e6, 2e6, time.Second}, 2},
		"longest":   {Ramp{1e6, 1e6, MaxRamp}, 140_400},
		"the bound": {Ramp{1e15, 1e15, 24 * time.Hour}, 86_400_000_000_000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.ramp.Before(tt.ramp.Length); got != tt.want {
				t.Errorf("%d hits, want %d", got, tt.want)
			}
			if got := tt.ramp.Before(tt.ramp.Length + time.Hour); got != tt.want {
				t.Errorf("%d hits later on, want %d: the ramp has ended", got, tt.want)
			}
			for _, at := range []time.Duration{0, -1, -time.Hour} {
				if got := tt.ramp.Before(at); got != 0 {
					t.Errorf("%d hits before %v", got, at)
				}
			}
		})
	}
}
