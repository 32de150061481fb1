package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// overdueSlack is how much longer ago than a bound a request of a running step must
// have been due to be overdue. A response that came in time is counted a moment after
// it was read, and may not be counted yet.
const overdueSlack = 100 * time.Millisecond

// tallyDue adds what is due of each user from the first instant after the warm-up to
// before t.
func (p *pacedUsers) tallyDue(t time.Duration, to *source.Tally) {
	p.tallyTurns(p.turns.Before(t), 1, to)
	p.tallyTurns(p.turns.Before(0), -1, to)
}

// tallyTurns adds the first n turns of the worker's users. Users that come first in a
// round have had one turn more while it is not over.
func (p *pacedUsers) tallyTurns(n, times int64, to *source.Tally) {
	for j := range p.share.Count {
		to.Add(p.share.Number(j), p.turnsOf(j, n), times)
	}
}

// turnsOf is how many of the first n turns of the worker's users are those of the j-th.
func (p *pacedUsers) turnsOf(j, n int64) int64 {
	turns := n / p.share.Count
	if j < n%p.share.Count {
		turns++
	}
	return turns
}

// tallyDue adds the hits from the first after the warm-up to the last that is due
// before t.
func (a *arrivals) tallyDue(t time.Duration, to *source.Tally) {
	if a.log != nil {
		a.log.tallyDue(t, to)
		return
	}
	to.AddStrided(a.share.First, a.share.Stride, a.dueTimes.Before(t), 1)
	to.AddStrided(a.share.First, a.share.Stride, a.dueTimes.Before(0), -1)
}

// tallyDue adds nothing: when a request of a closed user is due depends on the responses.
func (c *closedUsers) tallyDue(time.Duration, *source.Tally) {}

// planned is all that closed users are to send, if that is known.
func (c *closedUsers) planned(s *source.Source) ([]int64, bool) {
	if c.requests == 0 {
		return nil, false
	}
	tally := s.Tally()
	for j := range c.share.Count {
		tally.Add(c.share.Number(j), c.requests, 1)
	}
	return tally.Counts(), true
}

// fillDue fills in how many of each request were due by an instant that was read after
// the counts were, so that all that was sent is due, and how many were overdue by one
// that was read before. whole says that the step is over, and was not cut.
func (x *Execution) fillDue(s *measure.Measurement, before, after time.Duration, whole bool) {
	due := x.dueBefore(min(after+1, x.windowEnd()))
	closed, _ := x.schedule.(*closedUsers)
	if closed != nil && whole {
		if planned, known := closed.planned(x.source); known {
			due = planned
		}
	}
	s.Due = 0
	for i := range s.Requests {
		r := &s.Requests[i]
		r.Due = max(r.Sent+closed.missedOf(i), due[i])
		s.Due += r.Due
	}
	for _, within := range x.rec.times {
		overdue := x.dueBefore(min(before-within-overdueSlack, x.windowEnd()))
		for i := range s.Requests {
			r := &s.Requests[i]
			if whole {
				overdue[i] = r.Due
			}
			r.Overdue = append(r.Overdue, min(overdue[i], r.Due))
		}
	}
}

// dueBefore is how many of each request are due by their schedule before t.
func (x *Execution) dueBefore(t time.Duration) []int64 {
	tally := x.source.Tally()
	if t > 0 {
		x.schedule.tallyDue(t, tally)
	}
	return tally.Counts()
}
