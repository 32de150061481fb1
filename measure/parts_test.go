package measure

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Denials that are expected are no successes, however many others there are.
func TestExpectedDenialsAreNoSuccesses(t *testing.T) {
	for name, tc := range map[string]struct{ expected, succeeded, limited, denied, successes int64 }{
		"some of them":     {5, 3, 4, 2, 3},
		"all of them":      {7, 3, 4, 4, 3},
		"none":             {3, 3, 4, 0, 3},
		"none of anything": {0, 0, 0, 0, 0},
	} {
		r := Request{Expected: tc.expected}
		r.Outcomes[Success], r.Outcomes[RateLimited] = tc.succeeded, tc.limited
		if r.Denied() != tc.denied || r.Successes() != tc.successes {
			t.Errorf("%s: %d denied, %d successes; want %d, %d", name, r.Denied(), r.Successes(), tc.denied, tc.successes)
		}
	}
}

// What is counted again is added, and what is emptied is empty.
func TestCountsAreKeptAndEmptied(t *testing.T) {
	var f FailedTimes
	j := NewJourneys(1)[0]
	for range 2 {
		f.Record(2, 1, 1)
		j.Complete(2, 1)
	}
	if f.Ideal.Count() != 2 || j.Ideal.Count() != 2 {
		t.Errorf("%d ideal times of failures and %d of journeys, want 2 of each", f.Ideal.Count(), j.Ideal.Count())
	}
	one, other := NewMeasurement(1), NewMeasurement(1)
	for _, m := range []*Measurement{one, other} {
		m.Requests[0].Excused, m.Handshakes = 2, NewHistogram()
		m.Handshakes.Record(time.Millisecond)
		m.Requests[0].Ideal = NewHistogram()
		m.Requests[0].Ideal.Record(time.Millisecond)
	}
	other.Requests[0].Traces.Add(Trace{ID: TraceID{1}})
	must.Succeed(t, one.Merge(other))
	r := &one.Requests[0]
	if r.Excused != 4 || one.Handshakes.Count() != 2 || len(r.Traces) != 1 {
		t.Errorf("%d excused, %d handshakes, %d traces; want 4, 2, 1", r.Excused, one.Handshakes.Count(), len(r.Traces))
	}
	if r.Reset(); r.Ideal.Count() != 0 || r.Excused != 0 {
		t.Errorf("after a reset: %d ideal times, %d excused", r.Ideal.Count(), r.Excused)
	}
	for range other.Handshakes.Slots() {
		break // which must not go on
	}
}
