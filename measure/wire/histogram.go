package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// histogram is a validated histogram as it came: for each slot that counts
// something, in order, the number of empty slots before it and its count, both
// as unsigned variable-length integers. Dense counts are 190 KB whatever is in
// them, these are 1 to 20.
type histogram struct {
	counts  []byte
	clamped int64
}

// fromHistogram leaves an empty histogram out.
func fromHistogram(h *measure.Histogram) *workerv1.Histogram {
	if h == nil || h.Count() == 0 {
		return nil
	}
	return &workerv1.Histogram{Counts: encodeCounts(h.Counts()), Clamped: h.Clamped()}
}

func encodeCounts(counts []int64) []byte {
	var b []byte
	next := 0
	for slot, n := range counts {
		if n == 0 {
			continue
		}
		b = binary.AppendUvarint(b, uint64(slot-next))
		b = binary.AppendUvarint(b, uint64(n))
		next = slot + 1
	}
	return b
}

// readHistogram validates; sent is the most that it may count.
func readHistogram(m *workerv1.Histogram, sent int64) (histogram, error) {
	h := histogram{counts: m.GetCounts(), clamped: m.GetClamped()}
	total, err := checkCounts(h.counts, uint64(sent))
	if err != nil {
		return histogram{}, err
	}
	return h, within("clamped", h.clamped, "count", int64(total))
}

var (
	errTruncated = errors.New("counts: truncated")
	errOverlong  = errors.New("counts: an integer is overlong")
)

// checkCounts says how many values the counts have together. Each sequence of
// counts has one encoding, so that whatever is accepted is what encodeCounts
// would write.
func checkCounts(b []byte, sent uint64) (total uint64, err error) {
	slot := uint64(0)
	for len(b) > 0 {
		zeros, n, size := readPair(b)
		switch {
		case size == 0:
			return 0, errTruncated
		case size < 0:
			return 0, errOverlong
		case zeros >= uint64(measure.Slots)-slot:
			return 0, fmt.Errorf("counts: a time is longer than %v", measure.Highest)
		case n == 0:
			return 0, errors.New("counts: a slot is empty that should be left out")
		case n > sent-total:
			return 0, fmt.Errorf("count: more than sent, %d", sent)
		}
		slot += zeros + 1
		total += n
		b = b[size:]
	}
	return total, nil
}

// readPair reads a number of empty slots and a count. The size is 0 if b ends
// before them, and negative if one is longer than it need be. Nearly all are
// below 128, which the compiler inlines.
func readPair(b []byte) (zeros, n uint64, size int) {
	if len(b) > 1 && b[0]|b[1] < 0x80 {
		return uint64(b[0]), uint64(b[1]), 2
	}
	return readLongPair(b)
}

func readLongPair(b []byte) (zeros, n uint64, size int) {
	zeros, first := binary.Uvarint(b)
	if first <= 0 {
		return 0, 0, first
	}
	n, second := binary.Uvarint(b[first:])
	if second <= 0 {
		return 0, 0, second
	}
	if first > 1 && b[first-1] == 0 || second > 1 && b[first+second-1] == 0 {
		return 0, 0, -1
	}
	return zeros, n, first + second
}

// addTo adds the counts to those of dense, which has all slots.
func (h histogram) addTo(dense []int64) {
	for b := h.counts; len(b) > 0; {
		zeros, n, size := readPair(b)
		dense[zeros] += int64(n)
		dense, b = dense[zeros+1:], b[size:]
	}
}
