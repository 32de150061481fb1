package measure

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMissed(t *testing.T) {
	request := func(sent, unfinished, due, onTime, overdue int64) Request {
		r := Request{Sent: sent, Punctuality: Punctuality{Due: due, OnTime: []int64{onTime}, Overdue: []int64{overdue}}}
		r.Outcomes[Unfinished], r.Outcomes[Success] = unfinished, sent-unfinished
		return r
	}
	denied := request(10, 0, 10, 5, 10)
	denied.Expected, denied.Outcomes[Success], denied.Outcomes[RateLimited] = 7, 5, 2
	for name, tt := range map[string]struct {
		r    Request
		want int64
	}{
		"what was denied as expected":         {denied, 3},
		"what ended late":                     {request(10, 0, 10, 7, 10), 3},
		"what is in flight may be in time":    {request(10, 4, 10, 6, 3), 0},
		"what is in flight for too long":      {request(10, 4, 10, 6, 9), 3},
		"what waits to be sent for too long":  {request(5, 5, 20, 0, 12), 12},
		"what ended late, of a shorter while": {request(10, 0, 10, 2, 5), 8},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := tt.r.Missed(0); !ok || got != tt.want {
				t.Errorf("missed %d, %t; want %d", got, ok, tt.want)
			}
		})
	}
	for name, p := range map[string]Punctuality{
		"what was not counted": {}, "what is due, without what is on time": {OnTime: []int64{1}, Overdue: []int64{1, 1}},
		"what is on time, without what is due": {OnTime: []int64{1, 1}, Overdue: []int64{1}},
	} {
		for _, time := range []int{1, -1} {
			if _, ok := (&Request{Sent: 1, Punctuality: p}).Missed(time); ok {
				t.Errorf("%s: known of time %d", name, time)
			}
		}
	}
}

// failing counts n requests with an expected response in 1 ms, and failures in 50 ms.
func failing(n, failures int64) *Measurement {
	m := NewMeasurement(1)
	r := &m.Requests[0]
	for range n {
		r.Response.Record(time.Millisecond)
		r.Service.Record(time.Millisecond)
	}
	for range failures {
		r.Response.Record(50 * time.Millisecond)
		r.Service.Record(25 * time.Millisecond)
		r.Failed.Record(50*time.Millisecond, 25*time.Millisecond, 50*time.Millisecond)
	}
	r.Sent, r.Expected, r.Outcomes[Success], r.Outcomes[Timeout] = n+failures, n, n, failures
	r.Punctuality = Punctuality{Due: n + failures, OnTime: []int64{n}, Overdue: []int64{n + failures}}
	m.Due = n + failures
	return m
}

func TestExpectedTimesLeaveFailuresOut(t *testing.T) {
	m := failing(9, 3)
	must.Succeed(t, m.Merge(failing(4, 0)))
	response, service, ok := m.Requests[0].ExpectedTimes()
	if !ok || response.Count() != 13 || response.Clamped() != 0 || response.Max() != time.Millisecond || service.Max() != time.Millisecond {
		t.Errorf("%t: %d expected, at most %v and %v", ok, response.Count(), response.Max(), service.Max())
	}
	if !m.KnowsDue() || m.Requests[0].Due != 16 || m.Requests[0].OnTime[0] != 13 {
		t.Errorf("due %d, on time %v", m.Requests[0].Due, m.Requests[0].OnTime)
	}
}

// A time beyond an hour that failed is not one of those that are left.
func TestExpectedTimesLeaveClampedFailuresOut(t *testing.T) {
	m := failing(3, 0)
	r := &m.Requests[0]
	for _, d := range []time.Duration{2 * time.Hour, 3 * time.Hour, 4 * time.Hour} {
		r.Response.Record(d)
		r.Service.Record(d)
	}
	r.Failed.Record(2*time.Hour, 2*time.Hour, 2*time.Hour)
	r.Expected += 2
	response, service, ok := r.ExpectedTimes()
	if !ok || response.Clamped() != 2 || service.Clamped() != 2 {
		t.Errorf("%t: %d and %d clamped, want 2", ok, response.Clamped(), service.Clamped())
	}
}

// Most targets answer as expected, and a histogram is large.
func TestMergeWithoutFailuresTakesNoMemoryForThem(t *testing.T) {
	m := failing(3, 0)
	must.Succeed(t, m.Merge(failing(3, 0)))
	if f := m.Requests[0].Failed; f.Response != nil || f.Service != nil || m.Handshakes != nil {
		t.Error("there are histograms of failures, or of handshakes")
	}
	// Of messages that have one of both, none is lost.
	response, service := failing(0, 1), failing(0, 1)
	response.Requests[0].Failed.Service, service.Requests[0].Failed.Response = nil, nil
	must.Succeed(t, m.Merge(response))
	must.Succeed(t, m.Merge(service))
	if f := m.Requests[0].Failed; f.Response.Count() != 1 || f.Service.Count() != 1 {
		t.Errorf("%d response times and %d service times of failures, want 1 of each", f.Response.Count(), f.Service.Count())
	}
}

// A worker that does not report which times are of failures, or says so of times that
// are not among its own, leaves them unknown.
func TestExpectedTimesAreUnknown(t *testing.T) {
	silent, forged := failing(9, 3), failing(9, 0)
	silent.Requests[0].Failed = FailedTimes{}
	const longer = 1024 * time.Microsecond // by a slot than all that there are
	forged.Requests[0].Failed.Record(longer, longer, longer)
	response, service := failing(9, 0), failing(9, 0)
	response.Requests[0].Failed.Response = forged.Requests[0].Failed.Response
	service.Requests[0].Failed.Service = forged.Requests[0].Failed.Service
	for name, m := range map[string]*Measurement{"not reported": silent, "not its own": forged, "its response is not": response, "its service is not": service} {
		_, _, known := m.Requests[0].ExpectedTimes()
		_, ideally := m.Requests[0].ExpectedIdeally()
		if known || ideally != (m == service) {
			t.Errorf("%s: times are known: %t, ideal ones: %t", name, known, ideally)
		}
	}
}

func TestEndedSince(t *testing.T) {
	before, now := failing(9, 3), failing(20, 8)
	before.Window, now.Window = 2*time.Second, 3*time.Second
	now.Requests[0].Sent, now.Requests[0].Outcomes[Unfinished] = 30, 2 // in flight
	before.Requests[0].CompletedInWindow, before.Requests[0].ExpectedInWindow = 10, 9
	now.Requests[0].CompletedInWindow, now.Requests[0].ExpectedInWindow = 25, 20
	before.Requests[0].Excused, now.Requests[0].Excused = 1, 3
	since, err := now.EndedSince(before)
	must.Succeed(t, err)
	r := &since.Requests[0]
	got := []int64{r.Sent, r.Due, r.Expected, r.Outcomes[Timeout], r.OnTime[0], r.IdealOnTime[0], r.Response.Count(), r.Failed.Service.Count(), r.CompletedInWindow, r.ExpectedInWindow, r.Excused, int64(len(r.Overdue)), int64(since.Window)}
	same.As(t, "since", []int64{16, 16, 11, 5, 11, 11, 16, 5, 15, 11, 2, 1, int64(time.Second)}, got)
	fewer, slower := failing(20, 8), failing(21, 8)
	fewer.Requests[0].Outcomes[Timeout] = -30
	slower.Requests[0].Service = NewHistogram()
	for name, m := range map[string]*Measurement{
		"counts that fall": before, "outcomes that fall": fewer, "times of which one kind falls": slower,
		"no times": {Requests: make([]Request, 1)}, "other requests": {Requests: []Request{now.Requests[0], now.Requests[0]}},
	} {
		if since, err := m.EndedSince(now); err == nil {
			t.Errorf("%s are taken: %+v", name, since.Requests[0])
		}
	}
	before.Requests[0].OnTime = nil // as a worker says that had none yet
	if since, err = now.EndedSince(before); err != nil || since.Requests[0].OnTime[0] != 20 {
		t.Errorf("on time since none were: %v, %v", since, err)
	}
}

func TestStreamsKeepGoals(t *testing.T) {
	for goal, want := range map[StreamGoal]bool{
		{}: true, {30, 20, 10}: true, {29, 20, 10}: false, {30, 19, 10}: false, {30, 20, 9}: false,
	} {
		if got := goal.Kept(30, 20, 10); got != want {
			t.Errorf("%+v is kept: %t, want %t", goal, got, want)
		}
	}
}

// streamed are so many streams, with an event each.
func streamed(n int64) *Measurement {
	m := NewMeasurement(1)
	s := NewStreams()
	for range n {
		s.Record(FirstEvent, time.Second, time.Millisecond)
		s.Record(BetweenEvents, time.Minute, time.Second)
	}
	s.Events, s.InWindow, s.Tokened, s.InputTokens, s.OutputTokens = 2*n, n, n, 3*n, 4*n
	s.OnTime, s.IdealOnTime = []int64{n}, []int64{n + 1}
	m.Requests[0].Streams = s
	return m
}

func TestEventsSince(t *testing.T) {
	before, now := streamed(3), streamed(10)
	since, err := now.EndedSince(before)
	must.Succeed(t, err)
	want := streamed(7).Requests[0].Streams
	want.IdealOnTime[0]--
	want.Ideal[LongestGap], want.Ideal[MeanGap] = NewHistogram(), NewHistogram()
	same.As(t, "since", want, since.Requests[0].Streams, byContent)
	since, err = now.EndedSince(NewMeasurement(1))
	must.Succeed(t, err)
	same.As(t, "since none had come", now.Requests[0].Streams, since.Requests[0].Streams, byContent)
	if since, err = now.EndedSince(now); err != nil || since.Requests[0].Sent != 0 || since.Requests[0].Streams.Events != 0 {
		t.Errorf("nothing ended: %v", err)
	}
	measured, ideal := streamed(11), streamed(11)
	measured.Requests[0].Streams.Times[BetweenEvents] = NewHistogram()
	ideal.Requests[0].Streams.Ideal[FirstEvent] = NewHistogram()
	events := streamed(11)
	events.Requests[0].Streams.Events = 1
	for name, m := range map[string]*Measurement{"times that fall": measured, "ideal times that fall": ideal, "events that fall": events, "no streams any more": NewMeasurement(1)} {
		if since, err := m.EndedSince(now); err == nil {
			t.Errorf("%s are taken: %+v", name, since.Requests[0].Streams)
		}
	}
}
