package measure

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
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

// Histogram counts times between Lowest and Highest in the slots of HdrHistogram (Gil Tene), of which it
// keeps those up to the longest time: 8 KiB for times up to 1 ms, 190 KB for an hour. It is not safe for
// concurrent use. The zero value is empty.
type Histogram struct {
	// counts has the first slots: a multiple of perDoubling, or all. Every slot beyond its length counts nothing; what
	// its capacity has beyond it is 0.
	counts         []int64
	total, clamped int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{} }

// Record counts one time, rounded to the nearest unit. Times below zero count
// as zero; times above Highest are clamped and counted as such.
func (h *Histogram) Record(d time.Duration) {
	h.RecordN(d, 1)
}

// RecordN counts one time n times, as Record does, if the sum of all counts has room in 63 bits.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if n <= 0 || n > math.MaxInt64-h.total {
		return
	}
	if d > Highest {
		d = Highest
		h.clamped += n
	}
	slot := slotFor(int64((max(d, 0) + Lowest/2) / Lowest))
	if slot >= len(h.counts) {
		h.grow(slot + 1)
	}
	h.counts[slot] += n
	h.total += n
}

// grow makes room for the first slots, at least so many.
func (h *Histogram) grow(slots int) {
	slots = min((slots+perDoubling-1)/perDoubling*perDoubling, int(Slots))
	if slots <= cap(h.counts) {
		h.counts = h.counts[:slots]
		return
	}
	counts := make([]int64, slots)
	copy(counts, h.counts)
	h.counts = counts
}

// Merge adds the counts of o. It fails if their sum has no room in 63 bits; nothing is added then.
func (h *Histogram) Merge(o *Histogram) error {
	if o == nil {
		return nil
	}
	if o.total > math.MaxInt64-h.total {
		return fmt.Errorf("merge histograms: %d and %d values are more than can be counted", h.total, o.total)
	}
	h.grow(max(len(h.counts), len(o.counts)))
	for slot, n := range o.counts {
		h.counts[slot] += n
	}
	h.total += o.total
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
	less = h.Clone()
	for slot, n := range o.Filled() {
		if slot >= len(less.counts) || less.counts[slot] < n {
			return nil, false
		}
		less.counts[slot] -= n
	}
	less.total, less.clamped = h.total-o.total, max(0, h.clamped-o.clamped)
	return less, true
}

// Count is how many times were recorded.
func (h *Histogram) Count() int64 { return h.total }

// Clamped is how many times were longer than Highest.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Min is the shortest time, 0 when empty.
func (h *Histogram) Min() time.Duration {
	for slot := range h.Filled() {
		shortest, _ := slotOf(slot)
		return duration(shortest)
	}
	return 0
}

// Max is the longest time, 0 when empty.
func (h *Histogram) Max() time.Duration {
	for slot, n := range slices.Backward(h.counts) {
		if n > 0 {
			return longestOf(slot)
		}
	}
	return 0
}

// Mean is the arithmetic mean, 0 when empty.
func (h *Histogram) Mean() time.Duration {
	mean := 0.0
	for slot, n := range h.Filled() {
		shortest, units := slotOf(slot)
		mean += float64(n) * float64(shortest+units/2) / float64(h.total)
	}
	return time.Duration(mean * float64(Lowest))
}

// LongerThan is how many times were longer than d, and their sum.
func (h *Histogram) LongerThan(d time.Duration) (n int64, sum time.Duration) {
	for slot, count := range h.Filled() {
		if t := longestOf(slot); t > d {
			n += count
			sum += time.Duration(count) * t
		}
	}
	return n, sum
}

// Quantile is the nearest-rank quantile q, in (0, 1). ok is false when fewer
// than 1/(1-q) samples are there, since the quantile would then be just the
// maximum under another name.
func (h *Histogram) Quantile(q float64) (d time.Duration, ok bool) {
	rank, ok := nearestRank(q, h.total)
	if !ok {
		return 0, false
	}
	return h.AtRank(int64(rank)), true
}

// AtRank is the time of a rank, from 1 for the shortest to Count for the longest, of which also a higher one is;
// 0 when empty.
func (h *Histogram) AtRank(rank int64) time.Duration {
	for slot, n := range h.Filled() {
		if rank -= n; rank <= 0 {
			return longestOf(slot)
		}
	}
	return h.Max() // of counts beyond 53 bits, the rank of a quantile is rounded
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

// Equal says whether two histograms have the same counts; an empty one equals nil.
func (h *Histogram) Equal(o *Histogram) bool {
	if h == nil || o == nil {
		return (h == nil || h.Count() == 0) && (o == nil || o.Count() == 0)
	}
	if h.clamped != o.clamped || h.total != o.total {
		return false
	}
	same := min(len(h.counts), len(o.counts))
	return slices.Equal(h.counts[:same], o.counts[:same]) // the totals are equal: what is beyond is 0
}

// Reset empties the histogram, and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	h.counts, h.total, h.clamped = h.counts[:0], 0, 0
}

// Clone is an independent copy.
func (h *Histogram) Clone() *Histogram {
	c := &Histogram{total: h.total, clamped: h.clamped}
	c.grow(len(h.counts))
	copy(c.counts, h.counts)
	return c
}

// library is a copy for what the library does: its formats.
func (h *Histogram) library() *hdrhistogram.Histogram {
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue:  1,
		HighestTrackableValue: int64(Highest / Lowest),
		SignificantFigures:    SignificantDigits,
		Counts:                h.counts,
	})
}

// Encode is the histogram as HdrHistogram V2, compressed, in base64. The count
// of clamped values is not part of that format.
func (h *Histogram) Encode() (string, error) {
	b, err := h.library().Encode(hdrhistogram.V2CompressedEncodingCookieBase)
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
	return HistogramOf(hdr.Export().Counts[:Slots], clamped), nil
}

// Counts are the counts of all slots, the shortest times first; a copy.
func (h *Histogram) Counts() []int64 {
	counts := make([]int64, Slots)
	copy(counts, h.counts)
	return counts
}

// Filled are the slots that have a count, the shortest times first, and their counts.
func (h *Histogram) Filled() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for slot, n := range h.counts {
			if n > 0 && !yield(slot, n) {
				return
			}
		}
	}
}

// HistogramOf builds a histogram from the counts of the first slots, which it copies. No count may be
// negative, and clamped may be at most their sum.
func HistogramOf(counts []int64, clamped int64) *Histogram {
	h := &Histogram{clamped: clamped}
	used := 0
	for slot, n := range counts {
		if h.total += n; n > 0 {
			used = slot + 1
		}
	}
	h.grow(used)
	copy(h.counts, counts[:used])
	return h
}
