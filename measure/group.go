package measure

import "fmt"

// Group returns the measurement as workers report it while a step runs: what is not counted
// of each request by itself is added up over the requests of each group, so that it costs
// as little to report many requests as one. groups has for each request the index of its
// group; the indexes begin at 0, and none is left out. The times, the counts of what was on
// time, and the errors and traces are left in s, which is not changed.
func (s *Measurement) Group(groups []int32) (*Measurement, error) {
	if len(groups) != len(s.Requests) {
		return nil, fmt.Errorf("group %d requests: there are groups of %d", len(s.Requests), len(groups))
	}
	grouped := *s
	grouped.Groups, grouped.Requests, grouped.Grouped = groups, make([]Request, len(s.Requests)), nil
	for i, g := range groups {
		for int(g) >= len(grouped.Grouped) {
			grouped.Grouped = append(grouped.Grouped, NewRequest())
		}
		own, rest := s.Requests[i].split()
		grouped.Requests[i] = own
		if err := grouped.Grouped[g].Merge(&rest); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return &grouped, nil
}

// split divides a request into what is counted of it by itself while a step runs, and the
// rest, without its errors and traces.
func (r *Request) split() (own, rest Request) {
	own = *r
	own.Response, own.Service, own.Ideal, own.Failed, own.Streams = nil, nil, nil, FailedTimes{}, nil
	own.Punctuality = Punctuality{Due: r.Due}
	own.Errors, own.Traces = nil, nil
	rest = Request{Response: r.Response, Service: r.Service, Ideal: r.Ideal, Failed: r.Failed, Punctuality: r.Punctuality, Streams: r.Streams}
	rest.Due = 0
	return own, rest
}

// Of adds up the requests for which covers is true, by their index, and what is known only of
// groups whose every request is one of these.
func (s *Measurement) Of(covers func(request int) bool) (Request, error) {
	sum := NewRequest()
	for i := range s.Requests {
		if !covers(i) {
			continue
		}
		if err := sum.Merge(&s.Requests[i]); err != nil {
			return sum, fmt.Errorf("request %d: %w", i, err)
		}
	}
	for g := range s.Grouped {
		if !s.coversGroup(int32(g), covers) {
			continue
		}
		if err := sum.Merge(&s.Grouped[g]); err != nil {
			return sum, fmt.Errorf("group %d: %w", g, err)
		}
	}
	return sum, nil
}

func (s *Measurement) coversGroup(group int32, covers func(request int) bool) bool {
	for i, g := range s.Groups {
		if g == group && !covers(i) {
			return false
		}
	}
	return true
}

// Alone is what is known of a request by itself: of what some workers told of groups, nothing,
// unless it is a group by itself. It is not to be changed; its histograms may be nil.
func (s *Measurement) Alone(request int) (Request, error) {
	if s.Grouped == nil || !s.coversGroup(s.Groups[request], func(i int) bool { return i == request }) {
		return s.Requests[request], nil
	}
	return s.Of(func(i int) bool { return i == request })
}

// Total is all requests merged into one.
func (s *Measurement) Total() (Request, error) {
	return s.Of(func(int) bool { return true })
}

// mergeGrouped adds what workers told of groups.
func (s *Measurement) mergeGrouped(o *Measurement) error {
	if o.Grouped == nil {
		return nil
	}
	if s.Grouped == nil {
		s.Groups, s.Grouped = o.Groups, make([]Request, len(o.Grouped))
		for g := range s.Grouped {
			s.Grouped[g] = NewRequest()
		}
	}
	if len(s.Grouped) != len(o.Grouped) {
		return fmt.Errorf("merge measurements: %d groups of requests into %d", len(o.Grouped), len(s.Grouped))
	}
	for g := range s.Grouped {
		if err := s.Grouped[g].Merge(&o.Grouped[g]); err != nil {
			return fmt.Errorf("group %d: %w", g, err)
		}
	}
	return nil
}
