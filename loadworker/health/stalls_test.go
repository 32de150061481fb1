package health

import (
	"testing"
	"time"
)

func TestStallsAddUpLongGaps(t *testing.T) {
	const ms = time.Millisecond
	var s Stalls
	if got := s.Total(); got != 0 {
		t.Errorf("%v before it is watched, want 0", got)
	}
	for _, step := range []struct{ now, total time.Duration }{
		{20 * ms, 0},
		{139 * ms, 0},          // late by less than counts
		{259 * ms, 100 * ms},   // just as much as counts
		{3279 * ms, 3100 * ms}, // stopped for 3 s
		{3299 * ms, 3100 * ms}, // and on time again
	} {
		if got := s.at(step.now); got != step.total {
			t.Errorf("at %v, before it is noted: %v, want %v", step.now, got, step.total)
		}
		s.note(step.now)
		if got := s.at(step.now); got != step.total {
			t.Errorf("at %v: %v, want %v", step.now, got, step.total)
		}
	}
}
