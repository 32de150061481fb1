package wire

import (
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func fromTimeline(t *measure.Timeline) *workerv1.Timeline {
	if t == nil {
		return nil
	}
	return &workerv1.Timeline{Outstanding: encodeCounts(t.Outstanding[:]), Answered: encodeCounts(t.Answered[:]), Unsent: encodeCounts(t.Unsent[:])}
}

// toTimeline reads the timeline of a measurement. Requests of the warm-up, which are in no
// other count, are among those outstanding and answered: no count bounds it.
func toTimeline(m *workerv1.StepMeasurement) (*measure.Timeline, error) {
	if m.GetTimeline() == nil {
		return nil, nil
	}
	var t measure.Timeline
	if err := errors.Join(
		toSlots(t.Outstanding[:], "outstanding", m.GetTimeline().GetOutstanding()),
		toSlots(t.Answered[:], "answered", m.GetTimeline().GetAnswered()),
		toSlots(t.Unsent[:], "unsent", m.GetTimeline().GetUnsent()),
	); err != nil {
		return nil, err
	}
	for slot, n := range t.Unsent {
		if n > t.Outstanding[slot] {
			return nil, fmt.Errorf("timeline.unsent: %d in slot %d, outstanding are %d", n, slot, t.Outstanding[slot])
		}
	}
	return &t, nil
}

func toSlots(to []int64, field string, counts []byte) error {
	if _, err := checkCountsOf(counts, len(to), maxCount); err != nil {
		return fmt.Errorf("timeline.%s: not %d slots with at most %d together: %w", field, len(to), int64(maxCount), err)
	}
	histogram{counts: counts}.addTo(to)
	return nil
}
