package measure

// TimelineSlots is into how many equal slots the window of a step is divided.
const TimelineSlots = 200

// Timeline is what was outstanding and what was answered in the course of a step, whose
// planned window, or the limit of a burst, is divided into equal slots. What is left of the
// warm-up is among both: the target has it on its hands. The slots of a step that was cut are
// 0 from the one on in which it was.
type Timeline struct {
	// Outstanding is how many requests were due and had not ended at the end of each slot;
	// of users without a rate, that were sent and had not ended, or whose failure made the
	// user pause.
	Outstanding [TimelineSlots]int64
	// Unsent is how many of those outstanding had not been sent: the target did not know of
	// them.
	Unsent [TimelineSlots]int64
	// Answered is how many whole responses, of any status, came in each slot: to the worker's
	// machine, where it is known when, however late the worker read them.
	Answered [TimelineSlots]int64
}

// InFlight is how many requests the target had on its hands at the end of a slot.
func (t *Timeline) InFlight(slot int) int64 { return t.Outstanding[slot] - t.Unsent[slot] }

// mergeTimelines adds b to a, either of which may be nil.
func mergeTimelines(a, b *Timeline) *Timeline {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		if a == nil {
			return nil
		}
		sum := *a
		return &sum
	}
	sum := *a
	for i := range sum.Outstanding {
		sum.Outstanding[i] += b.Outstanding[i]
		sum.Unsent[i] += b.Unsent[i]
		sum.Answered[i] += b.Answered[i]
	}
	return &sum
}
