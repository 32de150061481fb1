package measure

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestSlotsHoldWhatWasRecorded(t *testing.T) {
	times := []time.Duration{0, time.Microsecond, 2047 * time.Microsecond, 2048 * time.Microsecond, 2049 * time.Microsecond, 5 * time.Millisecond, time.Second, Highest, 2 * Highest}
	means := map[time.Duration]time.Duration{2047 * time.Microsecond: 2047 * time.Microsecond, 2048 * time.Microsecond: 2048500, 5 * time.Millisecond: 5001500}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		times = append(times, time.Duration(random.Int64N(int64(Highest))).Truncate(Lowest))
	}
	for _, d := range times {
		h := NewHistogram()
		h.RecordN(d, 3)
		var slots, count int64
		for s, n := range h.Slots() {
			slots++
			count += n
			most := min(d, Highest)
			if mean, ok := means[d]; ok && s.Mean != mean {
				t.Errorf("the mean of the slot of %s is %s, want %s", d, s.Mean, mean)
			}
			if s.Shortest > most || s.Mean < s.Shortest || float64(most-s.Shortest) > 0.001*float64(most) || float64((s.Mean-most).Abs()) > 0.001*float64(most) {
				t.Errorf("%s is in the slot of %s, of mean %s", d, s.Shortest, s.Mean)
			}
		}
		if slots != 1 || count != 3 {
			t.Errorf("%s recorded three times: %d slots with %d times", d, slots, count)
		}
	}
}

func TestSlotsComeInOrder(t *testing.T) {
	h := NewHistogram()
	for d := Lowest; d < Highest; d = d * 5 / 4 {
		h.Record(d + Lowest)
	}
	last := time.Duration(-1)
	for s := range h.Slots() {
		if s.Shortest <= last {
			t.Fatalf("%s comes after %s", s.Shortest, last)
		}
		last = s.Shortest
	}
	if last < Highest*3/4 {
		t.Errorf("the last is %s", last)
	}
	for range h.Slots() {
		break // a caller may stop
	}
}
