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

// mergeTimeline adds that of another worker, before anything else is added. Of a worker that
// reports none the course is not known, and so is that of the sum: what is left would be taken
// for all of it.
func (s *Measurement) mergeTimeline(o *Measurement) {
	switch a, b := s.Timeline, o.Timeline; {
	case o.isEmpty():
	case s.isEmpty() && b != nil:
		sum := *b
		s.Timeline = &sum
	case a == nil || b == nil:
		s.Timeline = nil
	default:
		sum := *a
		for i := range sum.Outstanding {
			sum.Outstanding[i] += b.Outstanding[i]
			sum.Unsent[i] += b.Unsent[i]
			sum.Answered[i] += b.Answered[i]
		}
		s.Timeline = &sum
	}
}

// isEmpty says whether nothing is in it: it is of no worker, or of one that has not begun.
func (s *Measurement) isEmpty() bool {
	return s.Timeline == nil && s.Window == 0 && s.Due == 0 && s.LastStart.IsZero()
}
