package measure

import (
	"fmt"
	"slices"
)

// EndedSince is what ended of a step after an earlier measurement of it, by the same
// workers: its requests count as sent and due when they ended. Its lateness is empty.
func (s *Measurement) EndedSince(before *Measurement) (*Measurement, error) {
	if len(s.Requests) != len(before.Requests) {
		return nil, fmt.Errorf("compare measurements: %d requests with %d", len(s.Requests), len(before.Requests))
	}
	since := &Measurement{Requests: make([]Request, len(s.Requests)), Window: s.Window - before.Window, Lateness: NewHistogram(), ReadLateness: NewHistogram()}
	for i := range s.Requests {
		r, ok := s.Requests[i].endedSince(&before.Requests[i])
		if !ok {
			return nil, fmt.Errorf("request %d has fewer counts than before", i)
		}
		since.Requests[i] = r
		since.Due += r.Due
	}
	if len(s.Grouped) != len(before.Grouped) {
		return nil, fmt.Errorf("compare measurements: %d groups of requests with %d", len(s.Grouped), len(before.Grouped))
	}
	since.Groups, since.Grouped = s.Groups, make([]Request, len(s.Grouped))
	for g := range s.Grouped {
		var ok bool
		if since.Grouped[g], ok = s.Grouped[g].endedSince(&before.Grouped[g]); !ok {
			return nil, fmt.Errorf("group %d has fewer counts than before", g)
		}
	}
	return since, nil
}

func (r *Request) endedSince(before *Request) (since Request, ok bool) {
	var ended [7]bool
	since.Response, ended[0] = r.Response.without(before.Response)
	since.Service, ended[1] = r.Service.without(before.Service)
	since.Failed.Response, ended[2] = r.Failed.Response.without(before.Failed.Response)
	since.Failed.Service, ended[3] = r.Failed.Service.without(before.Failed.Service)
	since.Ideal, ended[4] = r.Ideally().without(before.Ideally())
	since.Failed.Ideal, ended[5] = r.Failed.Ideally().without(before.Failed.Ideally())
	since.Streams, ended[6] = r.Streams.since(before.Streams)
	since.Excused = r.Excused - before.Excused
	since.Expected = r.Expected - before.Expected
	since.CompletedInWindow = r.CompletedInWindow - before.CompletedInWindow
	since.ExpectedInWindow = r.ExpectedInWindow - before.ExpectedInWindow
	for o := range r.Outcomes {
		if Outcome(o) != Unfinished {
			since.Outcomes[o] = r.Outcomes[o] - before.Outcomes[o]
			since.Sent += since.Outcomes[o]
		}
	}
	since.Due = since.Sent
	since.OnTime = less(r.OnTime, before.OnTime)
	since.IdealOnTime = less(r.OnTimeIdeally(), before.OnTimeIdeally())
	since.Overdue = make([]int64, len(since.OnTime))
	return since, ended == [7]bool{true, true, true, true, true, true, true} && since.Sent >= 0
}

// since has the events that came later than those in before; ok is false if there are fewer than before.
func (s *Streams) since(before *Streams) (since *Streams, ok bool) {
	if s == nil || before == nil {
		return s, before == nil
	}
	since = &Streams{
		Events: s.Events - before.Events, InWindow: s.InWindow - before.InWindow,
		Tokened: s.Tokened - before.Tokened, InputTokens: s.InputTokens - before.InputTokens, OutputTokens: s.OutputTokens - before.OutputTokens,
		OnTime: less(s.OnTime, before.OnTime), IdealOnTime: less(s.IdealOnTime, before.IdealOnTime),
	}
	ok = since.Events >= 0
	for i := range since.Times {
		var measured, ideally bool
		t := StreamTime(i)
		since.Times[t], measured = s.Times[t].without(before.Times[t])
		since.Ideal[t], ideally = s.Ideally(t).without(before.Ideally(t))
		ok = ok && measured && ideally
	}
	return since, ok
}

// less are the counts a less those of b, which may be fewer.
func less(a, b []int64) []int64 {
	rest := slices.Clone(a)
	for i := range rest {
		if i < len(b) {
			rest[i] -= b[i]
		}
	}
	return rest
}
