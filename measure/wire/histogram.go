package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// histogram is a validated histogram as it came: for each slot that counts
// something, in order, a key and, if need be, the rest of its count, both as
// unsigned variable-length integers. Dense counts are 190 KB whatever is in them,
// these are 1 to 20.
type histogram struct {
	counts []byte
	// packed are counts of whole blocks of slots, beside counts.
	packed  []byte
	clamped int64
	total   int64 // of both
	// borrowed says that these are measured times, which stand for ideal ones that the worker
	// did not send.
	borrowed bool
}

// A key is the number of empty slots before a count, and in its lowest bits the
// count; many in it says that the rest of the count follows. Nearly all counts
// and gaps of a worker are small, so that a byte has both.
const (
	countBits = 3
	many      = 1<<countBits - 1
)

func encodeCounts(counts []int64) []byte { return appendCounts(nil, slices.All(counts)) }

// appendCounts appends counts by slot, in order; empty slots may be among them.
func appendCounts(b []byte, counts iter.Seq2[int, int64]) []byte {
	next := 0
	for slot, n := range counts {
		if n == 0 {
			continue
		}
		b = appendCount(b, slot-next, uint64(n))
		next = slot + 1
	}
	return b
}

// appendCount appends one, after so many empty slots.
func appendCount(b []byte, zeros int, n uint64) []byte {
	b = binary.AppendUvarint(b, uint64(zeros)<<countBits|min(n, many))
	if n >= many {
		b = binary.AppendUvarint(b, n-many)
	}
	return b
}

// readHistogram validates; sent is the most that it may count.
func readHistogram(m *workerv1.Histogram, sent int64) (histogram, error) {
	h := histogram{counts: m.GetCounts(), packed: m.GetPacked(), clamped: m.GetClamped()}
	total, err := checkCounts(h.counts, uint64(sent))
	if err != nil {
		return histogram{}, err
	}
	if total, err = checkPacked(h.packed, total, uint64(sent)); err != nil {
		return histogram{}, err
	}
	h.total = int64(total)
	return h, within("clamped", h.clamped, "count", h.total)
}

var (
	errTruncated = errors.New("counts: truncated")
	errOverlong  = errors.New("counts: an integer is overlong")
)

// checkCounts says how many values the counts have together. All counts have one
// encoding, so that whatever is accepted is what encodeCounts would write.
func checkCounts(b []byte, sent uint64) (total uint64, err error) {
	return checkCountsOf(b, int(measure.Slots), sent)
}

// checkCountsOf does it for so many slots.
func checkCountsOf(b []byte, most int, sent uint64) (total uint64, err error) {
	slot, slots := uint64(0), uint64(most)
	for i := 0; i < len(b); {
		if eight, ok := shortCounts(b[i:]); ok {
			zeros, n := eight.sums()
			if slot+zeros+8 <= slots && n <= sent-total {
				slot, total, i = slot+zeros+8, total+n, i+8
				continue
			}
		}
		zeros, n, size := shortCount(b[i])
		if size == 0 && i+1 < len(b) {
			zeros, n, size = pairCount(b[i], b[i+1])
		}
		if size == 0 {
			zeros, n, size = longCount(b[i:])
		}
		if zeros >= slots-slot || n == 0 || n > sent-total {
			return 0, badCount(zeros, n, size, slots-slot, sent)
		}
		slot += zeros + 1
		total += n
		i += size
	}
	return total, nil
}

// badCount says what is wrong with a count where there are so many slots more; sent is the most of all counts.
func badCount(zeros, n uint64, size int, slots, sent uint64) error {
	switch {
	case size < 0:
		return errOverlong
	case size == 0:
		return errTruncated
	case zeros >= slots:
		return fmt.Errorf("counts: a time is longer than %v", measure.Highest)
	case n == 0:
		return errors.New("counts: a slot is empty that should be left out")
	}
	return fmt.Errorf("count: more than sent, %d", sent)
}

// isEmpty says whether it counts nothing.
func (h histogram) isEmpty() bool { return h.total == 0 }

// size is how many bytes its counts take.
func (h histogram) size() int { return len(h.counts) + len(h.packed) }

// addTo adds the counts that are not packed to dense, which has all slots.
func (h histogram) addTo(dense []int64) {
	slot, b := uint64(0), h.counts
	for i := 0; i < len(b); {
		if eight, ok := shortCounts(b[i:]); ok {
			for ; eight != 0; eight >>= 8 {
				slot += uint64(eight >> countBits & maxShortZeros)
				dense[slot] += int64(eight & many)
				slot++
			}
			i += 8
			continue
		}
		zeros, n, size := shortCount(b[i])
		if size == 0 { // more bytes follow
			zeros, n, size = pairCount(b[i], b[i+1])
		}
		if size == 0 {
			zeros, n, size = longCount(b[i:])
		}
		slot += zeros
		dense[slot] += int64(n)
		slot++
		i += size
	}
}

// shortCount is a count in one byte and the number of empty slots before it. The
// size is 0 if they have more. It is apart so that the compiler inlines it.
func shortCount(key byte) (zeros, n uint64, size int) {
	if key < 0x80 && key&many != many {
		return uint64(key >> countBits), uint64(key & many), 1
	}
	return 0, 0, 0
}

// pairCount is a count in two bytes, as most of a histogram with few values are. The
// size is 0 if it has more or fewer, or is overlong.
func pairCount(low, high byte) (zeros, n uint64, size int) {
	if low >= 0x80 && high-1 < 0x7f && low&many != many {
		key := uint64(low&0x7f) | uint64(high)<<7
		return key >> countBits, key & many, 2
	}
	return 0, 0, 0
}

// shorts are eight counts of one byte each, the first in the lowest byte. Most of
// a histogram is such, and eight bytes are as quickly looked at as one.
type shorts uint64

const (
	// each is 1 in each byte.
	each = 0x0101010101010101
	// maxShortZeros is the longest gap before a short count.
	maxShortZeros = 0x7f >> countBits
)

// shortCounts are the first eight bytes of b, if each is a count by itself: the
// highest bit is not set, and the lowest are neither none nor all.
func shortCounts(b []byte) (shorts, bool) {
	if len(b) < 8 {
		return 0, false
	}
	v := binary.LittleEndian.Uint64(b)
	n := v & (each * many)
	// A byte's highest bit is set by the sum if n is all ones, or if it is not 0;
	// no sum is larger than a byte.
	all, some := n+each*(0x80-many), n+each*0x7f
	return shorts(v), (v|all|^some)&(each*0x80) == 0
}

// sums are the numbers of empty slots and the counts, each added up: the product
// has the sum of all bytes in the highest.
func (s shorts) sums() (zeros, n uint64) {
	return uint64(s >> countBits & (each * maxShortZeros) * each >> 56), uint64(s & (each * many) * each >> 56)
}

// longCount reads the first count of b and the number of empty slots before it, which shortCount does not read.
// The size is 0 if b ends before they do, and negative if an integer is longer
// than it need be: then n is 0.
func longCount(b []byte) (zeros, n uint64, size int) {
	// Most have a gap of a few slots, and the rest of the count in a byte or two.
	if len(b) > 2 && b[0] < 0x80 {
		if zeros = uint64(b[0] >> countBits); b[1] < 0x80 {
			return zeros, uint64(b[1]) + many, 2
		} else if b[2]-1 < 0x7f {
			return zeros, (uint64(b[1]&0x7f) | uint64(b[2])<<7) + many, 3
		}
	}
	key, size := readInteger(b)
	if key&many != many { // or there is none, and it is 0
		return key >> countBits, key & many, size
	}
	rest, more := readInteger(b[size:])
	if more <= 0 {
		return 0, 0, more
	}
	if rest > math.MaxUint64-many {
		return 0, 0, -1
	}
	return key >> countBits, rest + many, size + more
}

// readInteger is binary.Uvarint, but refuses padding. Without an integer v is 0.
func readInteger(b []byte) (v uint64, size int) {
	// Nearly all have one byte, or two the last of which is not padding.
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1]-1 < 0x7f {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	v, size = binary.Uvarint(b)
	if size > 1 && b[size-1] == 0 {
		return 0, -1
	}
	return v, size
}
