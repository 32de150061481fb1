package measure

import (
	"iter"
	"math/bits"
	"time"
)

const (
	// linearSlots is how many slots have one unit each, perDoubling how many each doubling
	// above them has.
	linearSlots = 2048
	perDoubling = linearSlots / 2
)

// slotOf is the shortest time that counts in a slot, and how many units count in it.
func slotOf(slot int) (shortest, units int64) {
	if slot < linearSlots {
		return int64(slot), 1
	}
	doubling := (slot-linearSlots)/perDoubling + 1
	return int64(perDoubling+slot%perDoubling) << doubling, 1 << doubling
}

// slotFor is the slot in which a number of units counts, which is at most Highest/Lowest.
func slotFor(units int64) int {
	doubling := max(0, bits.Len64(uint64(units))-bits.Len64(linearSlots-1))
	return doubling*perDoubling + int(units>>doubling)
}

// longestOf is the longest time that counts in a slot.
func longestOf(slot int) time.Duration {
	shortest, units := slotOf(slot)
	return duration(shortest + units - 1)
}

// duration cuts at Highest, since the last slot is wider than that.
func duration(units int64) time.Duration { return min(time.Duration(units)*Lowest, Highest) }

// Slots are the shortest time and the mean time of each slot that has a count, the
// shortest first, and its count. Times of one slot differ by 0.1 % at most.
func (h *Histogram) Slots() iter.Seq2[Slot, int64] {
	return func(yield func(Slot, int64) bool) {
		for slot, n := range h.Filled() {
			shortest, units := slotOf(slot)
			s := Slot{Shortest: duration(shortest)}
			s.Mean = min(s.Shortest+time.Duration(units-1)*Lowest/2, Highest)
			if !yield(s, n) {
				return
			}
		}
	}
}

// Slot is where times count that a histogram does not tell apart.
type Slot struct {
	Shortest, Mean time.Duration
}
