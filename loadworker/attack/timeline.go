package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// fillIdeal fills in what the generator did to the load, and the timeline of a step that has
// ended.
func (x *Execution) fillIdeal(s *measure.Measurement, ended bool) {
	s.UserTime = x.userTime(s.Window)
	// Users who have left a ramp may still be waiting, or held up.
	s.Waited, s.HeldUp = min(s.Waited, s.UserTime), min(s.HeldUp, s.UserTime)
	if closed, ok := x.schedule.(*closedUsers); ok && closed.requests == 0 {
		s.UnsentByGenerator = closed.missedOfAll()
	} else if x.arrivals() != nil {
		s.UnsentByGenerator = s.Unsent - s.UnsentWithoutRoom
	}
	if ended {
		s.UnsentByGenerator += x.unsentByGenerator
		s.Timeline = x.timeline()
	}
	s.UnsentByGenerator = min(s.UnsentByGenerator, s.Unsent)
}

// timeline is the timeline of a step that has ended. It is made once: what a ramp has due is
// added up over its users.
func (x *Execution) timeline() *measure.Timeline {
	x.timelined.Do(func() { x.line = x.rec.timeline(x.windowEnd(), x.scheduledTurns()) })
	line := x.line
	return &line
}

// scheduledTurns has how many requests are due before an instant, those of the warm-up
// included; nil: the load has no schedule.
func (x *Execution) scheduledTurns() func(time.Duration) int64 {
	switch s := x.schedule.(type) {
	case scheduledUsers:
		return s.allTurns
	case *arrivals:
		return s.dueTimes.Before
	case *sessions:
		return s.all.dueTimes.Before
	}
	return nil
}

// timeline adds the slots up, those of a window that was cut as far as they are whole.
// Without a schedule, what was sent was due.
func (r *recorder) timeline(end time.Duration, turns func(time.Duration) int64) (line measure.Timeline) {
	sent, answered, failed, begun := r.courseAt(0)
	ended := answered + failed
	for slot := range line.Outstanding {
		sentIn, answered, failed, begunIn := r.courseAt(slot + 1)
		sent += sentIn
		begun += begunIn
		ended += answered + failed
		line.Answered[slot] = answered
		until := r.courses[0].endOf(slot)
		if until > end {
			break
		}
		due := sent
		if turns != nil {
			due = turns(until)
			if r.of.sessions != nil { // the later requests of a session are due when they are sent
				due += sent - begun
			}
		}
		line.Outstanding[slot] = due - ended
		line.Unsent[slot] = max(0, due-sent)
	}
	return line
}

// courseAt adds up what the courses have at a place.
func (r *recorder) courseAt(i int) (sent, answered, failed, begun int64) {
	for n := range r.courses {
		c := &r.courses[n]
		sent += c.sent[i].Load()
		answered += c.answered[i].Load()
		failed += c.failed[i].Load()
		begun += c.begun[i].Load()
	}
	return sent, answered, failed, begun
}

// userTime is how much time the users have had in a window of that length so far.
func (x *Execution) userTime(window time.Duration) (sum time.Duration) {
	switch s := x.schedule.(type) {
	case *pacedUsers:
		return window * time.Duration(s.share.Count)
	case *rampedUsers:
		return s.takePart(s.turns.Ramp, window)
	case *closedUsers:
		if s.requests > 0 {
			return window * time.Duration(s.share.Count)
		}
		return s.takePart(s.ramp, window)
	}
	return 0
}

// takePart is how long the users of a ramp have taken part within a window.
func (u users) takePart(ramp pace.UserRamp, window time.Duration) (sum time.Duration) {
	for j := range u.share.Count {
		begin, end := ramp.Span(u.share.Number(j))
		sum += within(begin, end, window)
	}
	return sum
}
