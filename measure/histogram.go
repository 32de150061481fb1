package measure

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The bounds are fixed, not configurable: histograms merge without error only
// if all workers share them.
const (
	// Lowest is the unit of a histogram, and the shortest time it tells from zero.
	Lowest = time.Microsecond
	// Highest is the longest time; longer ones are clamped to it and counted.
	Highest = time.Hour
	// SignificantDigits is the precision: 3 digits, a relative error of 0.1 %.
	SignificantDigits = 3
	// Slots is how many counts a histogram has for the times up to Highest. The
	// first 2048 units have a slot each, and each doubling above them has 1024. The
	// last of 21 doublings, in steps of 2^21 units, goes on beyond Highest.
	Slots = 2048 + 20*1024 + int64(Highest/Lowest)>>21 - 1024 + 1
)

// Histogram counts times between Lowest and Highest. It is not safe for
// concurrent use. The zero value is not usable; call NewHistogram.
type Histogram struct {
	hdr     *hdrhistogram.Histogram
	clamped int64
}

// NewHistogram returns an empty histogram of the fixed bounds.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, int64(Highest/Lowest), SignificantDigits)}
}

// Record counts one time, rounded to the nearest unit. Times below zero count
// as zero; times above Highest are clamped and counted as such.
func (h *Histogram) Record(d time.Duration) {
	h.RecordN(d, 1)
}

// RecordN counts one time n times, as Record does.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if d > Highest {
		d = Highest
		h.clamped += n
	}
	// The value is within bounds, so that recording cannot fail.
	_ = h.hdr.RecordValues(int64((max(d, 0)+Lowest/2)/Lowest), n)
}

// Merge adds the counts of o. It fails if a count does not fit, which would
// mean that the bounds differ; nothing is lost silently.
func (h *Histogram) Merge(o *Histogram) error {
	if o == nil {
		return nil
	}
	if dropped := h.hdr.Merge(o.hdr); dropped > 0 {
		return fmt.Errorf("merge histograms: %d values out of bounds", dropped)
	}
	h.clamped += o.clamped
	return nil
}

// without is the histogram less the times of o, which are some of its own; ok is false
// if they are not.
func (h *Histogram) without(o *Histogram) (less *Histogram, ok bool) {
	if o == nil || o.Count() == 0 {
		return h, true
	}
	if h == nil {
		return nil, false
	}
	counts := h.Counts()
	for slot, n := range o.Counts() {
		if counts[slot] -= n; counts[slot] < 0 {
			return nil, false
		}
	}
	return HistogramOf(counts, max(0, h.clamped-o.clamped)), true
}

// Count is how many times were recorded.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Clamped is how many times were longer than Highest.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Min is the shortest time, 0 when empty.
func (h *Histogram) Min() time.Duration { return h.duration(h.hdr.Min()) }

// Max is the longest time, 0 when empty.
func (h *Histogram) Max() time.Duration { return h.duration(h.hdr.Max()) }

// Mean is the arithmetic mean, 0 when empty.
func (h *Histogram) Mean() time.Duration {
	return time.Duration(h.hdr.Mean() * float64(Lowest))
}

// LongerThan is how many times were longer than d, and their sum.
func (h *Histogram) LongerThan(d time.Duration) (n int64, sum time.Duration) {
	for _, bar := range h.hdr.Distribution() {
		if t := h.duration(bar.To); t > d {
			n += bar.Count
			sum += time.Duration(bar.Count) * t
		}
	}
	return n, sum
}

// Quantile is the nearest-rank quantile q, in (0, 1). ok is false when fewer
// than 1/(1-q) samples are there, since the quantile would then be just the
// maximum under another name.
func (h *Histogram) Quantile(q float64) (d time.Duration, ok bool) {
	n := h.Count()
	rank, ok := nearestRank(q, n)
	if !ok {
		return 0, false
	}
	// The library rounds the rank p/100*n to the nearest whole number.
	return h.duration(h.hdr.ValueAtQuantile(100 * rank / float64(n))), true
}

// nearestRank is the rank of the quantile q of n samples, rounded up; ok is false when
// they are too few. The shares are there for q = 0.999 and n = 1000, of which the product
// is a little more than 999.
func nearestRank(q float64, n int64) (rank float64, ok bool) {
	if float64(n)*(1-q) < 1-1e-9 {
		return 0, false
	}
	return math.Ceil(q * float64(n) * (1 - 1e-12)), true
}

// duration cuts at Highest, since the last bucket is wider than that.
func (h *Histogram) duration(v int64) time.Duration {
	return min(time.Duration(v)*Lowest, Highest)
}

// Equal says whether two histograms have the same counts; an empty one equals nil.
func (h *Histogram) Equal(o *Histogram) bool {
	if h == nil || o == nil {
		return (h == nil || h.Count() == 0) && (o == nil || o.Count() == 0)
	}
	return h.clamped == o.clamped && h.hdr.Equals(o.hdr)
}

// Reset empties the histogram.
func (h *Histogram) Reset() {
	h.hdr.Reset()
	h.clamped = 0
}

// Clone is an independent copy.
func (h *Histogram) Clone() *Histogram {
	return &Histogram{hdr: h.hdr.Clone(), clamped: h.clamped}
}

// Encode is the histogram as HdrHistogram V2, compressed, in base64. The count
// of clamped values is not part of that format.
func (h *Histogram) Encode() (string, error) {
	b, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(b), nil
}

// maxEncoded bounds what DecodeHistogram looks at: 9 bytes for each count, of which
// base64 makes 12. A count that a histogram can have takes 8, which leaves room for what
// is around them.
const maxEncoded = int(Slots) * 12

// DecodeHistogram reads what Encode wrote. It refuses histograms of other bounds, with
// values beyond them, or with more clamped values than values.
func DecodeHistogram(s string, clamped int64) (h *Histogram, err error) {
	// The library panics on some truncated input, which must end in an error.
	defer func() {
		if r := recover(); r != nil {
			h, err = nil, fmt.Errorf("decode histogram: %v", r)
		}
	}()
	if len(s) > maxEncoded {
		return nil, fmt.Errorf("decode histogram: %d bytes, at most %d", len(s), maxEncoded)
	}
	hdr, err := hdrhistogram.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if hdr.LowestTrackableValue() != 1 || hdr.HighestTrackableValue() != int64(Highest/Lowest) || hdr.SignificantFigures() != SignificantDigits {
		return nil, errors.New("decode histogram: bounds differ from 1 us, 1 h, 3 digits")
	}
	if limit := int64(Highest / Lowest); !hdr.ValuesAreEquivalent(max(hdr.Max(), limit), limit) {
		return nil, fmt.Errorf("decode histogram: value %d is beyond 1 h", hdr.Max())
	}
	if clamped < 0 || clamped > hdr.TotalCount() {
		return nil, fmt.Errorf("decode histogram: %d of %d values clamped", clamped, hdr.TotalCount())
	}
	return &Histogram{hdr: hdr, clamped: clamped}, nil
}

// Counts are the counts by slot, the shortest times first; a copy.
func (h *Histogram) Counts() []int64 { return h.hdr.Export().Counts[:Slots] }

// HistogramOf builds a histogram from counts by slot, which it copies. No count may be
// negative, and clamped may be at most their sum.
func HistogramOf(counts []int64, clamped int64) *Histogram {
	return &Histogram{clamped: clamped, hdr: hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue:  1,
		HighestTrackableValue: int64(Highest / Lowest),
		SignificantFigures:    SignificantDigits,
		Counts:                counts,
	})}
}
