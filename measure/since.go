package measure

import "fmt"

// EndedSince is what ended of a step after an earlier measurement of it, by the same
// workers: its requests count as sent and due when they ended. It has no lateness.
func (s *Measurement) EndedSince(before *Measurement) (*Measurement, error) {
	if len(s.Requests) != len(before.Requests) {
		return nil, fmt.Errorf("compare measurements: %d requests with %d", len(s.Requests), len(before.Requests))
	}
	since := &Measurement{Requests: make([]Request, len(s.Requests)), Window: s.Window - before.Window}
	for i := range s.Requests {
		r, ok := s.Requests[i].endedSince(&before.Requests[i])
		if !ok {
			return nil, fmt.Errorf("request %d has fewer counts than before", i)
		}
		since.Requests[i] = r
		since.Due += r.Due
	}
	return since, nil
}

func (r *Request) endedSince(before *Request) (since Request, ok bool) {
	var ended [4]bool
	since.Response, ended[0] = r.Response.without(before.Response)
	since.Service, ended[1] = r.Service.without(before.Service)
	since.Failed.Response, ended[2] = r.Failed.Response.without(before.Failed.Response)
	since.Failed.Service, ended[3] = r.Failed.Service.without(before.Failed.Service)
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
	since.OnTime = append(since.OnTime, r.OnTime...)
	for i := range since.OnTime {
		if i < len(before.OnTime) {
			since.OnTime[i] -= before.OnTime[i]
		}
	}
	since.Overdue = make([]int64, len(since.OnTime))
	return since, ended == [4]bool{true, true, true, true} && since.Sent >= 0
}
