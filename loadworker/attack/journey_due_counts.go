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
	if of, ok := x.schedule.(*sessions); ok {
		x.fillDueOfSessions(s, of, until)
		x.fillOverdueOfWalks(s, whole)
		return
	}
	for i := range s.Journeys {
		s.Journeys[i].Due = s.Journeys[i].Started
	}
	closed, _ := x.schedule.(*closedUsers)
	due := make([]int64, len(s.Requests))
	s.Due = 0
	for i := range due {
		due[i] = s.Requests[i].Sent + closed.missedOf(i)
		s.Due += due[i]
	}
	switch scheduled, ok := x.schedule.(scheduledUsers); {
	case ok && !ended:
		s.Due = max(s.Due, scheduled.allTurns(until)-scheduled.allTurns(0))
		clear(due)
	case ok:
		x.addAhead(s, due, func(f *userFeed, user int) int64 { return f.unsent(scheduled, user, until) })
	case closed != nil && closed.requests > 0 && whole:
		x.addAhead(s, due, func(f *userFeed, user int) int64 { return closed.requests - f.states[user].k })
	}
	for i := range s.Requests {
		s.Requests[i].Due = due[i]
	}
	x.fillOverdueOfWalks(s, whole)
}

// fillOverdueOfWalks fills in what was overdue, which is not known before the step is over.
func (x *Execution) fillOverdueOfWalks(s *measure.Measurement, whole bool) {
	for i := range s.Requests {
		r := &s.Requests[i]
		r.Overdue = make([]int64, len(x.rec.times))
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

// scheduledUsers have a schedule each: so many turns of the worker's j-th user, and of all
// of them, are due before an instant, those of the warm-up included.
type scheduledUsers interface {
	turnsBefore(j int64, t time.Duration) int64
	allTurns(t time.Duration) int64
}

var (
	_ scheduledUsers = (*pacedUsers)(nil)
	_ scheduledUsers = (*rampedUsers)(nil)
)

func (p *pacedUsers) turnsBefore(j int64, t time.Duration) int64 {
	return p.turnsOf(j, p.turns.Before(t))
}

func (p *pacedUsers) allTurns(t time.Duration) int64 { return p.turns.Before(t) }

func (r *rampedUsers) turnsBefore(j int64, t time.Duration) int64 {
	return r.turns.Before(r.share.Number(j), t)
}

func (r *rampedUsers) allTurns(t time.Duration) (sum int64) {
	for j := range r.share.Count {
		sum += r.turnsBefore(j, t)
	}
	return sum
}

// unsent is how many requests of a user with a schedule were due in the window before an instant,
// and were not sent.
func (f *userFeed) unsent(s scheduledUsers, user int, until time.Duration) int64 {
	number := f.number(user)
	return s.turnsBefore(number, until) - max(f.states[user].k, s.turnsBefore(number, 0))
}
