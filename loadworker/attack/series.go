package attack

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// maxSeries is how many series a step has at most: each takes 1.2 MB, and connections
// that share one seldom write to the same counter of it at the same instant.
const maxSeries = 4

// seriesMemory is the memory for the series of a step, as long as it may be.
func seriesMemory(shards int) int64 {
	return int64(min(shards, maxSeries)) * ((measure.MaxPoints+1)*int64(unsafe.Sizeof(point{})) + int64(unsafe.Sizeof(course{})))
}

// series counts point by point of time, without a lock and without allocating.
type series struct {
	width  time.Duration
	points []point
}

// point counts what happens in one of them.
type point struct {
	sent, expected atomic.Int64
	outcomes       [measure.NumOutcomes]atomic.Int64
	longest        atomic.Int64
	begun          atomic.Int64 // sessions: how many of sent are the first request of one
	opened         atomic.Int64 // responses that were the first on their connection
	times          [measure.TimeSlots]atomic.Uint32
}

// newSeries returns a few for a step whose window has that length.
func newSeries(n int, window time.Duration) []series {
	all := make([]series, min(n, maxSeries))
	for i := range all {
		all[i] = series{measure.PointWidth(window), make([]point, measure.Points(window))}
	}
	return all
}

// at is the point of an instant; after the window, that is the last.
func (s *series) at(t time.Duration) *point {
	return &s.points[min(max(0, int(t/s.width)), len(s.points)-1)]
}

// countSent counts a request when it is sent.
func (s *series) countSent(h *hit) {
	p := s.at(h.sent)
	p.sent.Add(1)
	if h.begins {
		p.begun.Add(1)
	}
}

// countEnd counts a request when it ends.
func (s *series) countEnd(h *hit, res result) {
	if res.outcome == measure.Unfinished {
		return
	}
	p := s.at(res.received)
	p.outcomes[res.outcome].Add(1)
	if res.expected {
		p.expected.Add(1)
	}
	if res.outcome.Responded() && !res.reused {
		p.opened.Add(1)
	}
	took := res.received - h.due
	p.times[measure.TimeSlot(took)].Add(1)
	for {
		old := p.longest.Load()
		if int64(took) <= old || p.longest.CompareAndSwap(old, int64(took)) {
			return
		}
	}
}

// addTo adds the points up.
func (s *series) addTo(sum *measure.Series) {
	for i := range s.points {
		p, to := &s.points[i], &sum.Points[i]
		to.Sent += p.sent.Load()
		to.Expected += p.expected.Load()
		to.FirstOnConnection += p.opened.Load()
		to.Longest = max(to.Longest, time.Duration(p.longest.Load()))
		for o := range p.outcomes {
			to.Outcomes[o] += p.outcomes[o].Load()
		}
		for slot := range p.times {
			to.Times[slot] += int64(p.times[slot].Load())
		}
	}
}

// Series is what happened in a step that has ended, in which so many requests were due.
func (x *Execution) Series(due int64) *measure.Series {
	sum := measure.NewSeries(x.step.Load.length())
	for i := range x.rec.series {
		x.rec.series[i].addTo(sum)
	}
	x.divideDue(sum, due)
	return sum
}

// divideDue divides the requests that were due between the points of the window. Those
// of a load without due times are due when they are sent.
func (x *Execution) divideDue(sum *measure.Series, due int64) {
	width, end := measure.PointWidth(x.step.Load.length()), x.windowEnd()
	last := int(max(0, end-1) / width) // of the window, which may have been cut
	var before, sent, follow int64
	for i := range last {
		sent += sum.Points[i].Sent
		follow += x.rec.followersIn(i, sum.Points[i].Sent)
		until := min(max(sent, before, x.scheduledBefore(time.Duration(i+1)*width)+follow), due)
		sum.Points[i].Due = until - before
		before = until
	}
	sum.Points[last].Due = due - before
}

// followersIn is how many of the requests that were sent in a point are later ones of a session, which
// are due when they are sent; 0 of a load without sessions.
func (r *recorder) followersIn(point int, sent int64) int64 {
	if r.of.sessions == nil {
		return 0
	}
	for i := range r.series {
		sent -= r.series[i].points[point].begun.Load()
	}
	return sent
}

// scheduledBefore is how many requests are due by a schedule in the window before t, of sessions
// their first ones; none of a load without due times.
func (x *Execution) scheduledBefore(t time.Duration) int64 {
	if s, ok := x.schedule.(*pacedUsers); ok {
		return s.turns.Before(t) - s.turns.Before(0)
	}
	if a := x.arrivals(); a != nil {
		return a.dueTimes.Before(t) - a.dueTimes.Before(0)
	}
	return 0
}
