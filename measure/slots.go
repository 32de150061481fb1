package measure

import (
	"iter"
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

// Slots are the shortest time and the mean time of each slot that has a count, the
// shortest first, and its count. Times of one slot differ by 0.1 % at most.
func (h *Histogram) Slots() iter.Seq2[Slot, int64] {
	return func(yield func(Slot, int64) bool) {
		for i, n := range h.Counts() {
			shortest, units := slotOf(i)
			s := Slot{Shortest: min(time.Duration(shortest)*Lowest, Highest)}
			s.Mean = min(s.Shortest+time.Duration(units-1)*Lowest/2, Highest)
			if n > 0 && !yield(s, n) {
				return
			}
		}
	}
}

// Slot is where times count that a histogram does not tell apart.
type Slot struct {
	Shortest, Mean time.Duration
}
