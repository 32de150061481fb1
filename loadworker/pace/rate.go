package pace

import (
	"math"
	"math/bits"
	"time"
)

// Rate is requests per 1,000,000 seconds. It must be positive.
type Rate int64

// nanosPerUnit is the nanoseconds of the 1,000,000 seconds that a Rate counts
// in: hit i is due i*nanosPerUnit/rate nanoseconds after the start.
const nanosPerUnit = 1_000_000 * 1_000_000_000

// Due is when hit i is due, from the start, rounded down to a nanosecond. What
// lies beyond 292 years is cut to that.
func (r Rate) Due(i int64) time.Duration {
	hi, lo := bits.Mul64(uint64(i), nanosPerUnit)
	if hi >= uint64(r) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	return time.Duration(min(q, math.MaxInt64))
}

// Before is how many hits are due before t: the smallest i whose Due is not.
//
// floor(i*N/r) < t is i*N < t*r, so the count is t*r/N rounded up, where N is
// nanosPerUnit.
func (r Rate) Before(t time.Duration) int64 {
	if t <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(t), uint64(r))
	// hi < 2^62, but N has only 50 bits: clamp what has no 64-bit quotient.
	if hi >= nanosPerUnit {
		return math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, nanosPerUnit)
	if rest > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// PerSecond is the rate in requests per second.
func (r Rate) PerSecond() float64 { return float64(r) / 1e6 }
