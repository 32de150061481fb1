package source

import (
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"
)

// What is counted without a visit is what visits count.
func TestTallyCountsAsVisitsWould(t *testing.T) {
	property := func(weights []uint8, start, by, first, then uint8) bool {
		weights = append(weights, 1)
		s := &Source{requests: make([]request, len(weights))}
		var all []int32
		for _, w := range weights {
			all = append(all, int32(w%7))
		}
		all[len(all)-1]++
		s.cycle = cycle(all)
		tally, want := s.Tally(), make([]int64, len(weights))
		from, to := int64(first), int64(first)+int64(then)
		tally.Add(int64(start), to, 1)
		tally.Add(int64(start), from, -1)
		step := int64(by%12) + 1 // workers
		worker := int64(start) % step
		s.block = blockOf(int64(len(s.cycle)), step)
		tally.inBlocks = s.block > 0
		tally.AddStrided(worker, step, to, 1)
		tally.AddStrided(worker, step, from, -1)
		for k := from; k < to; k++ {
			want[s.RequestOf(int64(start), k)]++
			want[s.RequestOf(s.Position(worker+k*step), 0)]++
		}
		if diff := cmp.Diff(want, tally.Counts()); diff != "" {
			t.Errorf("cycle %v, from %d, by %d, %d to %d (-want +got):\n%s", s.cycle, start, step, from, to, diff)
			return false
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}
