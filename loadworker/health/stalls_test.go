package health

import (
	"testing"
	"time"
)

func TestStallsAddUpGaps(t *testing.T) {
	const ms = time.Millisecond
	var s Stalls
	if got := s.Total(); got != 0 {
		t.Errorf("%v before it is watched, want 0", got)
	}
	for _, step := range []struct{ now, total, most time.Duration }{
		{20 * ms, 0, 0},
		{69 * ms, 0, 0},                   // late by less than counts
		{119 * ms, 0, 50 * ms},            // just as much as may excuse a request
		{238 * ms, 0, 169 * ms},           // late by less than is reported
		{358 * ms, 100 * ms, 289 * ms},    // just as much
		{3378 * ms, 3100 * ms, 3309 * ms}, // stopped for 3 s
		{3398 * ms, 3100 * ms, 3309 * ms}, // and on time again
	} {
		want := stalls{step.now, step.total, step.most}
		if got := s.at(step.now); got != want {
			t.Errorf("at %v, before it is noted: %v, want %v", step.now, got, want)
		}
		s.note(step.now)
		if got := s.at(step.now); got != want {
			t.Errorf("at %v: %v, want %v", step.now, got, want)
		}
	}
}
