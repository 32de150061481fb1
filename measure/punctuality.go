package measure

import "slices"

// Punctuality is how many requests were due, and how many of them were answered as
// expected in time: within each of the times that the plan names, the shortest first.
type Punctuality struct {
	// Due is how many were due. Of all requests of a plan they add up to the due of the
	// measurement, unless a worker does not count them: it has 0 of each.
	Due int64
	// OnTime, by time, is how many succeeded within it, from when they were due.
	OnTime []int64
	// IdealOnTime is OnTime as a perfect generator would have measured it. nil: as OnTime.
	IdealOnTime []int64
	// Overdue, by time, is how many were certainly due so long ago. What is not on time
	// of them never will be. It is Due once the step has ended.
	Overdue []int64
}

func (p *Punctuality) addPunctuality(o Punctuality) {
	p.Due += o.Due
	if p.IdealOnTime != nil || o.IdealOnTime != nil {
		p.IdealOnTime = addAll(slices.Clone(p.OnTimeIdeally()), o.OnTimeIdeally())
	}
	p.OnTime = addAll(p.OnTime, o.OnTime)
	p.Overdue = addAll(p.Overdue, o.Overdue)
}

// OnTimeIdeally are the counts that a perfect generator would have had.
func (p *Punctuality) OnTimeIdeally() []int64 {
	if p.IdealOnTime == nil {
		return p.OnTime
	}
	return p.IdealOnTime
}

// addAll adds the numbers of o to those of sum, which may be fewer.
func addAll(sum, o []int64) []int64 {
	for len(sum) < len(o) {
		sum = append(sum, 0)
	}
	for i, n := range o {
		sum[i] += n
	}
	return sum
}

// KnowsDue says whether it is known how many of each request were due.
func (s *Measurement) KnowsDue() bool {
	var sum int64
	for i := range s.Requests {
		sum += s.Requests[i].Due
	}
	return sum == s.Due
}

// Missed is how many requests were certainly not on time: those that ended without
// being so, and those that are overdue. Denials that are expected are left out. ok is false
// if they were not counted.
func (r *Request) Missed(time int) (n int64, ok bool) {
	if time < 0 || time >= len(r.OnTime) || time >= len(r.Overdue) {
		return 0, false
	}
	ended := r.Sent - r.Outcomes[Unfinished]
	return max(ended, r.Overdue[time]) - r.Denied() - r.OnTime[time], true
}
