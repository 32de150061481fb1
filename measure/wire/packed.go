package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Where most slots of a histogram count something, its counts travel in blocks of 64 slots with
// as many bits for each as the largest needs. Eight of them are read, checked and added at once,
// which takes a tenth of the time that they take one by one.
const (
	blockSlots = 64
	// words is how many numbers of 64 bits have a byte for each slot of a block.
	words = blockSlots / 8
	// blocks is how many there are. The slots after the last whole block are sent one by one.
	blocks = int(measure.Slots) / blockSlots
	// widthBits is how many bits of a block's key say how wide its counts are.
	widthBits = 2
	maxPacked = 1<<8 - 1
)

// width is the binary logarithm of how many bits a count of a block has.
type width uint

// widthFor is what counts need of which the largest is most, at most maxPacked.
func widthFor(most uint64) width { return width(bits.Len(uint(bits.Len64(most) - 1))) }

// size is how many bytes a block takes, without its key.
func (w width) size() int { return 8 << w }

// ones, twos and fours have the bits of the lowest count of each byte, of which each has so many bits.
const ones, twos, fours = 0x01 * each, 0x03 * each, 0x0f * each

// upper has the upper half of the bits of each count, for each width: a block in which none is
// set has narrower counts. All that counts of one bit can be is none.
var upper = [...]uint64{0xff * each, 0xaa * each, 0xcc * each, 0xf0 * each}

// Pack makes the histograms of a measurement cheaper to merge, for a coordinator that reads
// packed ones: ClockReply.packed says so.
func Pack(m *workerv1.StepMeasurement) {
	for h := range histogramsOf(m) {
		if h != nil {
			h.Counts, h.Packed = packCounts(h.Counts)
		}
	}
}

// histogramsOf are all of a measurement; some are nil.
func histogramsOf(m *workerv1.StepMeasurement) iter.Seq[*workerv1.Histogram] {
	return func(yield func(*workerv1.Histogram) bool) {
		all := []*workerv1.Histogram{m.GetLateness(), m.GetReadLateness(), m.GetHandshakes()}
		for _, r := range m.GetRequests() {
			all = append(all, r.GetResponse(), r.GetService(), r.GetFailedResponse(), r.GetFailedService(), r.GetIdeal(), r.GetFailedIdeal())
			all = append(append(all, r.GetStreams().GetTimes()...), r.GetStreams().GetIdeal()...)
		}
		for _, j := range m.GetJourneys() {
			all = append(all, j.GetTime(), j.GetUnfinished(), j.GetIdeal())
		}
		for _, h := range all {
			if !yield(h) {
				return
			}
		}
	}
}

// packing divides counts into blocks.
type packing struct {
	rest, packed []byte
	// slot and block are those after the last in rest and in packed.
	slot, block int
}

// packCounts divides valid counts into packed ones and the rest, as they travel.
func packCounts(counts []byte) (rest, packed []byte) {
	var p packing
	var of [blockSlots]uint64
	block, size := 0, 0
	slot := 0
	for len(counts) > 0 {
		zeros, n, used := oneCount(counts)
		if slot += int(zeros); slot/blockSlots != block {
			p.add(block, size, &of)
			block, size = slot/blockSlots, 0
		}
		of[slot%blockSlots] = n
		slot, size, counts = slot+1, size+used, counts[used:]
	}
	p.add(block, size, &of)
	return p.rest, p.packed
}

// oneCount is the first of valid counts.
func oneCount(counts []byte) (zeros, n uint64, size int) {
	if zeros, n, size = shortCount(counts[0]); size == 0 {
		zeros, n, size = longCount(counts)
	}
	return zeros, n, size
}

// add adds the counts of a block, which take size bytes one by one, and clears them. They are packed
// if that takes at most four times as many bytes, since it takes less time to read them.
func (p *packing) add(block, size int, of *[blockSlots]uint64) {
	most := uint64(0)
	for _, n := range of {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	if w := widthFor(most); most <= maxPacked && block < blocks && w.size() <= 4*size {
		p.packed = binary.AppendUvarint(p.packed, uint64(block-p.block)<<widthBits|uint64(w))
		p.packed = appendBlock(p.packed, w, of)
		p.block = block + 1
		clear(of[:])
		return
	}
	for i, n := range of {
		if n > 0 {
			p.rest = appendCount(p.rest, block*blockSlots+i-p.slot, n)
			p.slot = block*blockSlots + i + 1
		}
	}
	clear(of[:])
}

func appendBlock(b []byte, w width, of *[blockSlots]uint64) []byte {
	var packed [words]uint64
	perByte := 8 >> w // how many counts there are in a byte
	for slot, n := range of {
		row, lane := slot/8, slot%8
		packed[row/perByte] |= n << (8*lane + row%perByte<<w)
	}
	for _, v := range packed[:1<<w] {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// checkPacked validates packed counts, and says how many values they and those before have
// together: at most sent.
func checkPacked(b []byte, before, sent uint64) (total uint64, err error) {
	total = before
	for block := uint64(0); len(b) > 0; block++ {
		key, size := readInteger(b)
		if size < 0 {
			return 0, errors.New("packed: an integer is overlong")
		}
		w := width(key & (1<<widthBits - 1))
		if size == 0 || len(b) < size+w.size() {
			return 0, errors.New("packed: truncated")
		}
		skipped := key >> widthBits
		if skipped >= uint64(blocks)-block {
			return 0, fmt.Errorf("packed: a time is longer than %v", measure.Highest)
		}
		block += skipped
		n, ok := w.sum(b[size : size+w.size()])
		switch {
		case !ok:
			return 0, errors.New("packed: the counts of a block are wider than they need be")
		case n > sent-total:
			return 0, fmt.Errorf("count: more than sent, %d", sent)
		}
		total += n
		b = b[size+w.size():]
	}
	return total, nil
}

// sum adds up the counts of a block; ok is false if they have room in fewer bits. The sums of
// all bytes at one place of the numbers have room in 16 bits. The widths are written out, as in addTo.
func (w width) sum(b []byte) (n uint64, ok bool) {
	const pairs = 0x00ff00ff00ff00ff
	var all, sums uint64
	switch w {
	case 0:
		v := binary.LittleEndian.Uint64(b)
		return uint64(bits.OnesCount64(v)), v != 0
	case 1:
		_ = b[15]
		for i := range 2 {
			v := binary.LittleEndian.Uint64(b[8*i:])
			all |= v
			sums += v&twos + v>>2&twos + v>>4&twos + v>>6&twos
		}
		sums = sums&pairs + sums>>8&pairs
	case 2:
		_ = b[31]
		for i := range 4 {
			v := binary.LittleEndian.Uint64(b[8*i:])
			all |= v
			sums += v&fours + v>>4&fours
		}
		sums = sums&pairs + sums>>8&pairs
	default:
		_ = b[63]
		for i := range 8 {
			v := binary.LittleEndian.Uint64(b[8*i:])
			all |= v
			sums += v&pairs + v>>8&pairs
		}
	}
	return sums * 0x0001000100010001 >> 48, all&upper[w] != 0
}
