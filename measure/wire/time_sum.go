package wire

import (
	"encoding/binary"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// timeSum adds up histograms. Packed counts are added eight at a time, in a byte for each slot
// of a block. Before a byte could overflow, the counts of its block are moved to dense.
type timeSum struct {
	dense   []int64 // by slot
	bytes   [][words]uint64
	used    []uint16 // the most that a byte of each block may be
	clamped int64
}

func newTimeSum() *timeSum {
	return &timeSum{dense: make([]int64, measure.Slots), bytes: make([][words]uint64, blocks), used: make([]uint16, blocks)}
}

// take returns the sum, and is empty after it.
func (s *timeSum) take() *measure.Histogram {
	for block := range s.used {
		s.flush(block)
	}
	h := measure.HistogramOf(s.dense, s.clamped)
	clear(s.dense)
	s.clamped = 0
	return h
}

// add adds a histogram, which is valid.
func (s *timeSum) add(h histogram) {
	s.clamped += h.clamped
	h.addTo(s.dense)
	for block, b := 0, h.packed; len(b) > 0; block++ {
		key, size := uint64(b[0]), 1
		if key >= 0x80 {
			key, size = readInteger(b)
		}
		block += int(key >> widthBits)
		w := width(key & (1<<widthBits - 1))
		most := uint16(1)<<(1<<w) - 1
		if s.used[block]+most > maxPacked {
			s.flush(block)
		}
		s.used[block] += most
		w.addTo(&s.bytes[block], b[size:])
		b = b[size+w.size():]
	}
}

// addTo adds the counts of a block to the byte of each slot. The widths are written out: one loop for all of them
// took a tenth longer.
func (w width) addTo(sums *[words]uint64, b []byte) {
	switch w {
	case 0:
		v := binary.LittleEndian.Uint64(b)
		sums[0] += v & ones
		sums[1] += v >> 1 & ones
		sums[2] += v >> 2 & ones
		sums[3] += v >> 3 & ones
		sums[4] += v >> 4 & ones
		sums[5] += v >> 5 & ones
		sums[6] += v >> 6 & ones
		sums[7] += v >> 7 & ones
	case 1:
		_ = b[15]
		for i := range 2 {
			v := binary.LittleEndian.Uint64(b[8*i:])
			sums[4*i] += v & twos
			sums[4*i+1] += v >> 2 & twos
			sums[4*i+2] += v >> 4 & twos
			sums[4*i+3] += v >> 6 & twos
		}
	case 2:
		_ = b[31]
		for i := range 4 {
			v := binary.LittleEndian.Uint64(b[8*i:])
			sums[2*i] += v & fours
			sums[2*i+1] += v >> 4 & fours
		}
	default:
		_ = b[63]
		for i := range sums {
			sums[i] += binary.LittleEndian.Uint64(b[8*i:])
		}
	}
}

// flush moves the counts of a block to dense.
func (s *timeSum) flush(block int) {
	if s.used[block] == 0 {
		return
	}
	dense := (*[blockSlots]int64)(s.dense[block*blockSlots:])
	for i, v := range s.bytes[block] {
		row := (*[8]int64)(dense[8*i:])
		for lane := range row {
			row[lane] += int64(v >> (8 * lane) & maxPacked)
		}
	}
	s.bytes[block], s.used[block] = [words]uint64{}, 0
}
