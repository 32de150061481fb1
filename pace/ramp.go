package pace

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// Ramp is a schedule whose rate goes linearly From one rate To another, both
// positive, over Length, which is at most MaxRamp. In time t
//
//	H(t) = From·t + (To−From)·t²/(2·Length)
//
// hits are due, and hit i is due when H(t) = i, rounded down to a nanosecond.
// The schedule ends at Length: it has the hits with i < H(Length).
//
// The equation is solved in floating point and then corrected by comparing H
// with i in whole numbers of 192 bits, so that due times and counts are exact
// to the nanosecond, as those of a Rate are.
type Ramp struct {
	From, To Rate
	Length   time.Duration
}

var _ Schedule = Ramp{}

// part is the number of parts of a hit, in which positions are counted. Even
// schedules need whole hits only; Poisson arrivals fall between them.
const part = 1 << 16

// MaxRamp is the longest ramp for which the numbers are wide enough.
const MaxRamp = 39 * time.Hour

// maxHits bounds the hits of a ramp, so that their parts fit: it is 10^9 hits a
// second for a day and a half.
const maxHits = math.MaxInt64 / part

// Due returns when hit i is due; a hit beyond the end is never due.
func (r Ramp) Due(i int64) time.Duration {
	if i > maxHits {
		return math.MaxInt64
	}
	return r.at(uint64(i) * part)
}

// Before returns how many hits are due before t: the i < H(t).
func (r Ramp) Before(t time.Duration) int64 {
	t = min(max(t, 0), r.Length)
	// Due(i) < t if and only if H(t) > i: search for the first i that is not.
	low, high := int64(0), int64(maxHits)
	for low < high {
		middle := low + (high-low)/2
		if r.compare(t, uint64(middle)*part) > 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// at returns when H reaches a position, which is in parts of a hit.
func (r Ramp) at(position uint64) time.Duration {
	if r.compare(r.Length, position) <= 0 {
		return math.MaxInt64
	}
	// H(low) <= position < H(high): bracket the guess, then halve the bracket.
	guess := r.guess(position)
	low, high := guess, guess
	for step := time.Duration(1); r.compare(low, position) > 0; step *= 2 {
		low, high = max(0, low-step), low
	}
	for step := time.Duration(1); r.compare(high, position) <= 0; step *= 2 {
		low, high = high, min(r.Length, high+step)
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		if r.compare(middle, position) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// guess solves the equation in floating point, in the form that keeps its digits when
// From and To are nearly equal.
func (r Ramp) guess(position uint64) time.Duration {
	a, b, d := r.From.PerSecond(), r.To.PerSecond(), r.Length.Seconds()
	i := float64(position) / part
	root := math.Sqrt(max(0, a*a+2*(b-a)*i/d))
	t := time.Duration(2 * i / (a + root) * 1e9)
	return min(max(t, 0), r.Length)
}

// compare compares H(t) with a position, for 0 <= t <= Length. With N the
// nanoseconds of a Rate's unit, all in whole numbers:
//
//	t·(2·From·Length + (To−From)·t)·part  ?  position·N·2·Length
//
// The first has at most 48+98+16 bits, the second 63+50+48.
func (r Ramp) compare(t time.Duration, position uint64) int {
	hi, lo := bits.Mul64(2*uint64(r.From), uint64(r.Length))
	if r.To >= r.From {
		h, l := bits.Mul64(uint64(r.To-r.From), uint64(t))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	} else {
		h, l := bits.Mul64(uint64(r.From-r.To), uint64(t))
		var borrow uint64
		lo, borrow = bits.Sub64(lo, l, 0)
		hi, _ = bits.Sub64(hi, h, borrow)
	}
	done := wide(hi, lo, uint64(t)*part)
	hi, lo = bits.Mul64(position, nanosPerUnit)
	return compare(done, wide(hi, lo, 2*uint64(r.Length)))
}

// wide multiplies a number of 128 bits by one of 64. The product has 192 bits, the
// least significant first.
func wide(hi, lo, by uint64) [3]uint64 {
	carry, low := bits.Mul64(lo, by)
	high, middle := bits.Mul64(hi, by)
	middle, c := bits.Add64(middle, carry, 0)
	return [3]uint64{low, middle, high + c}
}

func compare(a, b [3]uint64) int {
	for i := 2; i >= 0; i-- {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}
