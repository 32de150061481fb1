package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// fillDueOfWalks is fillDue for a mix with journeys. How many requests are due follows
// from the schedule; of which kind they are, from the responses. So it is not known of a
// step with a schedule which requests were due and not sent before the step has ended:
// then they are those that each user would have sent next.
func (x *Execution) fillDueOfWalks(s *measure.Measurement, until time.Duration, ended, whole bool) {
	closed, _ := x.schedule.(*closedUsers)
	due := make([]int64, len(s.Requests))
	s.Due = 0
	for i := range due {
		due[i] = s.Requests[i].Sent + closed.missedOf(i)
		s.Due += due[i]
	}
	switch paced, isPaced := x.schedule.(*pacedUsers); {
	case isPaced && !ended:
		s.Due = max(s.Due, paced.turns.Before(until)-paced.turns.Before(0))
		clear(due)
	case isPaced:
		x.addAhead(s, due, func(f *userFeed, user int) int64 { return f.unsent(paced, user, until) })
	case closed != nil && closed.requests > 0 && whole:
		x.addAhead(s, due, func(f *userFeed, user int) int64 { return closed.requests - f.states[user].k })
	}
	for i := range s.Requests {
		r := &s.Requests[i]
		r.Due, r.Overdue = due[i], make([]int64, len(x.rec.times))
		for t := range r.Overdue {
			if whole {
				r.Overdue[t] = r.Due
			}
		}
	}
}

// addAhead adds so many of the next requests of each user to what was due.
func (x *Execution) addAhead(s *measure.Measurement, due []int64, of func(f *userFeed, user int) int64) {
	for _, f := range x.feeds {
		for user := range f.states {
			n := max(0, of(f, user))
			f.states[user].walk.CountAhead(n, due)
			s.Due += n
		}
	}
}

// unsent is how many requests of a paced user were due in the window before an instant,
// and were not sent.
func (f *userFeed) unsent(p *pacedUsers, user int, until time.Duration) int64 {
	number := f.number(user)
	first := max(f.states[user].k, p.turnsOf(number, p.turns.Before(0)))
	return p.turnsOf(number, p.turns.Before(until)) - first
}
