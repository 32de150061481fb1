package pace

import (
	"math"
	"math/bits"
	"time"
)

// Schedule decides when hits are due. Hits are numbered from 0, over all workers or
// one worker's own; due times never decrease.
type Schedule interface {
	// Due returns when hit i is due; math.MaxInt64 means never.
	Due(i int64) time.Duration
	// Before returns how many hits are due before t: the smallest i whose Due is not.
	Before(t time.Duration) int64
}

// Rate is requests per 1,000,000 seconds. It must be positive.
type Rate int64

var _ Schedule = Rate(0)

// nanosPerUnit is the nanoseconds of the 1,000,000 seconds of a Rate: hit i is due i*nanosPerUnit/rate nanoseconds after the start.
const nanosPerUnit = 1_000_000 * 1_000_000_000

// Due returns when hit i is due, from the start, rounded down to a nanosecond, at
// most 292 years.
func (r Rate) Due(i int64) time.Duration {
	hi, lo := bits.Mul64(uint64(i), nanosPerUnit)
	if hi >= uint64(r) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	return time.Duration(min(q, math.MaxInt64))
}

// Before returns how many hits are due before t: the smallest i whose Due is not.
//
// floor(i*N/r) < t is i*N < t*r, so the count is t*r/N rounded up, where N is
// nanosPerUnit.
func (r Rate) Before(t time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(max(t, 0)), uint64(r))
	// hi < 2^62, but N has only 50 bits: the quotient may not fit into 64 bits.
	if hi >= nanosPerUnit {
		return math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, nanosPerUnit)
	if rest > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// PerSecond returns the rate in requests per second.
func (r Rate) PerSecond() float64 { return float64(r) / 1e6 }

// Warmed is a schedule that begins with a warm-up. Time 0 is the end of the warm-up,
// so that the hits of the warm-up are due before 0. Their numbers come first.
type Warmed struct {
	warm, main Schedule
	length     time.Duration
	hits       int64 // in the warm-up
}

var _ Schedule = (*Warmed)(nil)

// NewWarmed returns the schedule of a warm-up of a length, and of main after it.
func NewWarmed(warm Schedule, length time.Duration, main Schedule) *Warmed {
	return &Warmed{warm: warm, main: main, length: length, hits: warm.Before(length)}
}

// Due returns when hit i is due, from the end of the warm-up.
func (w *Warmed) Due(i int64) time.Duration {
	if i < w.hits {
		return w.warm.Due(i) - w.length
	}
	return w.main.Due(i - w.hits)
}

// Before returns how many hits are due before t, those of the warm-up included.
func (w *Warmed) Before(t time.Duration) int64 {
	return w.warm.Before(min(t, 0)+w.length) + w.main.Before(max(t, 0))
}
