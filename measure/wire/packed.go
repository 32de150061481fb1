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

// Where most slots of a histogram count something, its counts travel by planes: plane p has bit p of
// each count. A word has a bit of each of 64 slots, which are read, checked and added at once. 64 counts take as many
// words as the largest of them has bits.
//
// Words that have no bit are left out: each group of 64 words begins with one that says which of them there are.
const (
	wordSlots  = 64
	groupWords = 64
	// planes is how many bits a packed count may have.
	planes = 16
	// words is how many a plane may have. The slots after the last whole word are sent one by one.
	words       = int(measure.Slots) / wordSlots
	planeGroups = (words + groupWords - 1) / groupWords
	planeWords  = planeGroups * groupWords
	// lastWords is how many words the last group of a plane may have.
	lastWords = words - (planeGroups-1)*groupWords
	wordBytes = 8
	// groupHead is how many bytes say which words of a group there are, and how many groups without any are before it:
	// fewer than 256.
	groupHead = 1 + wordBytes
)

// packing divides counts into packed ones and the rest. It is empty before and after each histogram. nil packs none.
type packing struct {
	rest []byte
	// slot is the one after the last in rest.
	slot int
	// filled are the words of each group that have a bit.
	filled [planes * planeGroups]uint64
	words  [planes * planeWords]uint64
}

// fromHistogram leaves an empty histogram out.
func (p *packing) fromHistogram(h *measure.Histogram) *workerv1.Histogram {
	switch {
	case h == nil || h.Count() == 0:
		return nil
	case p == nil:
		return &workerv1.Histogram{Counts: appendCounts(nil, h.Filled()), Clamped: h.Clamped()}
	}
	rest, packed := p.pack(h.Filled())
	return &workerv1.Histogram{Counts: rest, Packed: packed, Clamped: h.Clamped()}
}

// pack divides counts by slot into packed ones and the rest, as they travel.
func (p *packing) pack(counts iter.Seq2[int, int64]) (rest, packed []byte) {
	var of [wordSlots]uint64
	word, filled := 0, 0
	for slot, n := range counts {
		if slot/wordSlots != word {
			p.add(word, filled, &of)
			word, filled = slot/wordSlots, 0
		}
		of[slot%wordSlots] = uint64(n)
		filled++
	}
	p.add(word, filled, &of)
	rest, packed = p.rest, p.takePacked()
	p.rest, p.slot = nil, 0
	return rest, packed
}

// add adds the counts of 64 slots, so many of which are filled, and clears them. They are packed if that takes at
// most four bytes for each, since it takes less time to read them: one by one, most take a byte or two.
func (p *packing) add(word, filled int, of *[wordSlots]uint64) {
	all := uint64(0)
	for _, n := range of {
		all |= n
	}
	if width := bits.Len64(all); width <= planes && word < words && width*wordBytes <= 4*filled {
		p.addPacked(word, width, of)
	} else {
		p.addRest(word, of)
	}
	clear(of[:])
}

// addPacked adds counts of so many bits.
func (p *packing) addPacked(word, width int, of *[wordSlots]uint64) {
	for first := 0; first < width; first += 8 {
		var eight [8]uint64 // planes
		for row := range eight {
			bytes := uint64(0)
			for i, n := range of[8*row:][:8] {
				bytes |= n >> first & 0xff << (8 * i)
			}
			for plane, bytes := 0, transpose(bytes); bytes != 0; plane, bytes = plane+1, bytes>>8 {
				eight[plane] |= bytes & 0xff << (8 * row)
			}
		}
		for plane, v := range eight {
			if v != 0 {
				at := (first+plane)*planeWords + word
				p.words[at] = v
				p.filled[at/groupWords] |= 1 << (at % groupWords)
			}
		}
	}
}

// transpose exchanges bit i of byte k with bit k of byte i (Warren, Hacker's Delight, 7-3).
func transpose(v uint64) uint64 {
	t := (v ^ v>>7) & 0x00aa00aa00aa00aa
	v ^= t ^ t<<7
	t = (v ^ v>>14) & 0x0000cccc0000cccc
	v ^= t ^ t<<14
	t = (v ^ v>>28) & 0x00000000f0f0f0f0
	return v ^ t ^ t<<28
}

func (p *packing) addRest(word int, of *[wordSlots]uint64) {
	for i, n := range of {
		if n > 0 {
			p.rest = appendCount(p.rest, word*wordSlots+i-p.slot, n)
			p.slot = word*wordSlots + i + 1
		}
	}
}

// takePacked returns the packed counts as they travel, and removes them.
func (p *packing) takePacked() (b []byte) {
	skipped := 0
	for group, filled := range p.filled {
		if filled == 0 {
			skipped++
			continue
		}
		b = append(b, byte(skipped))
		b = binary.LittleEndian.AppendUint64(b, filled)
		for ; filled != 0; filled &= filled - 1 {
			at := group*groupWords + bits.TrailingZeros64(filled)
			b = binary.LittleEndian.AppendUint64(b, p.words[at])
		}
		skipped, p.filled[group] = 0, 0
	}
	return b
}

// checkPacked validates packed counts, and says how many values they and those before have
// together: at most sent.
func checkPacked(b []byte, before, sent uint64) (total uint64, err error) {
	total = before
	for group := 0; len(b) > 0; group++ {
		if len(b) < groupHead {
			return 0, errors.New("packed: truncated")
		}
		if group += int(b[0]); group >= planes*planeGroups {
			return 0, fmt.Errorf("packed: a count has more than %d bits", planes)
		}
		filled := binary.LittleEndian.Uint64(b[1:])
		b = b[groupHead:]
		used := bits.OnesCount64(filled) * wordBytes
		if len(b) < used {
			return 0, errors.New("packed: truncated")
		}
		if group%planeGroups == planeGroups-1 && filled>>lastWords != 0 {
			return 0, fmt.Errorf("packed: a time is longer than %v", measure.Highest)
		}
		ones, ok := countOnes(b[:used])
		if !ok {
			return 0, errors.New("packed: a word is empty that should be left out")
		}
		n := ones << (group / planeGroups) // at most 2^12 of 2^15
		if n > sent-total {
			return 0, fmt.Errorf("count: more than sent, %d", sent)
		}
		total, b = total+n, b[used:]
	}
	return total, nil
}

// countOnes is how many bits are set in words; ok is false if there is none, or one without a bit.
func countOnes(b []byte) (ones uint64, ok bool) {
	for ; len(b) >= wordBytes; b = b[wordBytes:] {
		v := binary.LittleEndian.Uint64(b)
		if v == 0 {
			return 0, false
		}
		ones += uint64(bits.OnesCount64(v))
	}
	return ones, ones > 0
}
