package wire

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// timeSum adds up histograms. It collects the packed words of eight histograms, a batch. Then it adds the eight words of
// each place without a choice, by a tree of carry-save adders (Harley and Seal): a bit of each of 64 slots at once.
type timeSum struct {
	dense   []int64 // by slot
	clamped int64

	// collected, low and high are by plane and word, as packed counts. high has the bits from plane batchBits on.
	collected []batch
	low       []lowSum
	high      []uint64
	// pending is of how many histograms words are collected, and used which places have any; added is of how many
	// words were added, and seen which places had any.
	pending, added int
	used, seen     [planes * planeGroups]uint64
}

const (
	batchSize = 8
	batchBits = 3
	// maxAdded is how many histograms are added before the sum is moved to dense.
	maxAdded  = 1 << addedBits
	addedBits = 10
)

func newTimeSum() *timeSum { return &timeSum{dense: make([]int64, measure.Slots)} }

// timeSums are empty ones: each has 0.8 MB, and each run merges once a second.
var timeSums = sync.Pool{New: func() any { return newTimeSum() }}

// take returns the sum, and is empty after it.
func (s *timeSum) take() *measure.Histogram {
	s.flush()
	h := measure.HistogramOf(s.dense, s.clamped)
	clear(s.dense)
	s.clamped = 0
	return h
}

// add adds a histogram, which is valid.
func (s *timeSum) add(h histogram) {
	s.clamped += h.clamped
	h.addTo(s.dense)
	if len(h.packed) == 0 {
		return
	}
	if s.collected == nil { // only running steps have packed counts
		s.collected, s.low = make([]batch, planes*planeWords), make([]lowSum, planes*planeWords)
		s.high = make([]uint64, (planes+addedBits)*planeWords)
	}
	b, number := h.packed, uint(s.pending)%batchSize
	for group := 0; len(b) > 0; group++ {
		group += int(b[0])
		filled := binary.LittleEndian.Uint64(b[1:])
		b = b[groupHead:]
		s.used[group] |= filled
		// The sizes of arrays, and remainders by them, spare a check of the bounds for each word.
		places := (*[groupWords]batch)(s.collected[group*groupWords:])
		for ; filled != 0; filled &= filled - 1 {
			places[uint(bits.TrailingZeros64(filled))%groupWords][number] = binary.LittleEndian.Uint64(b)
			b = b[wordBytes:]
		}
	}
	if s.pending++; s.pending == batchSize {
		s.reduce()
	}
}

// reduce adds what is collected.
func (s *timeSum) reduce() {
	for group, used := range s.used {
		s.seen[group] |= used
		collected, low := (*[groupWords]batch)(s.collected[group*groupWords:]), (*[groupWords]lowSum)(s.low[group*groupWords:])
		for ; used != 0; used &= used - 1 {
			word := uint(bits.TrailingZeros64(used)) % groupWords
			carried := low[word].add(&collected[word])
			for at := group*groupWords + int(word) + batchBits*planeWords; carried != 0; at += planeWords {
				s.high[at], carried = s.high[at]^carried, s.high[at]&carried
			}
		}
	}
	s.used = [len(s.used)]uint64{}
	s.added, s.pending = s.added+s.pending, 0
	if s.added > maxAdded-batchSize {
		s.flush()
	}
}

// flush moves the packed counts to dense.
func (s *timeSum) flush() {
	if s.pending > 0 {
		s.reduce()
	}
	if s.added == 0 {
		return
	}
	for group, seen := range s.seen {
		for ; seen != 0; seen &= seen - 1 {
			at := group*groupWords + bits.TrailingZeros64(seen)
			low := &s.low[at]
			s.addBits(at, low.ones)
			s.addBits(at+planeWords, low.twos)
			s.addBits(at+2*planeWords, low.fours)
			*low = lowSum{}
		}
	}
	for at, v := range s.high {
		s.addBits(at, v)
	}
	clear(s.high)
	s.added, s.seen = 0, [len(s.seen)]uint64{}
}

// addBits adds a word to dense.
func (s *timeSum) addBits(at int, v uint64) {
	plane, first := at/planeWords, at%planeWords*wordSlots
	for ; v != 0; v &= v - 1 {
		s.dense[first+bits.TrailingZeros64(v)] += 1 << plane
	}
}

// batch are the words of a place, one of each histogram.
type batch [batchSize]uint64

// lowSum is a sum of words, modulo batchSize in each bit.
type lowSum struct{ ones, twos, fours uint64 }

// add adds the words, removes them, and returns what is carried: batchSize times its bits.
func (s *lowSum) add(of *batch) (eights uint64) {
	var a, b, c, d uint64
	s.ones, a = carrySave(s.ones, of[0], of[1])
	s.ones, b = carrySave(s.ones, of[2], of[3])
	s.twos, c = carrySave(s.twos, a, b)
	s.ones, a = carrySave(s.ones, of[4], of[5])
	s.ones, b = carrySave(s.ones, of[6], of[7])
	s.twos, d = carrySave(s.twos, a, b)
	s.fours, eights = carrySave(s.fours, c, d)
	*of = batch{}
	return eights
}

// carrySave adds three bits in each place.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	either := a ^ b
	return either ^ c, a&b | either&c
}
