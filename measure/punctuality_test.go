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
	for name, tt := range map[string]struct {
		r    Request
		want int64
	}{
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
		if _, ok := (&Request{Sent: 1, Punctuality: p}).Missed(1); ok {
			t.Errorf("%s: known", name)
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
	if !ok || response.Count() != 13 || response.Max() != time.Millisecond || service.Max() != time.Millisecond {
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
	if f := m.Requests[0].Failed; f.Response != nil || f.Service != nil {
		t.Error("there are histograms of failures")
	}
	// Of a message that has one of both, none is lost.
	half := failing(0, 1)
	half.Requests[0].Failed.Response = nil
	if err := m.Merge(half); err != nil || m.Requests[0].Failed.Service.Count() != 1 {
		t.Errorf("%v: the service times are lost", err)
	}
}

// A worker that does not report which times are of failures, or says so of times that
// are not among its own, leaves them unknown.
func TestExpectedTimesAreUnknown(t *testing.T) {
	silent, forged := failing(9, 3), failing(9, 0)
	silent.Requests[0].Failed = FailedTimes{}
	forged.Requests[0].Failed.Record(time.Second, time.Second, time.Second)
	for name, m := range map[string]*Measurement{"not reported": silent, "not its own": forged} {
		if _, _, ok := m.Requests[0].ExpectedTimes(); ok {
			t.Errorf("%s: known", name)
		}
	}
}

func TestEndedSince(t *testing.T) {
	before, now := failing(9, 3), failing(20, 8)
	before.Window, now.Window = 2*time.Second, 3*time.Second
	now.Requests[0].Sent, now.Requests[0].Outcomes[Unfinished] = 30, 2 // in flight
	before.Requests[0].CompletedInWindow, before.Requests[0].ExpectedInWindow = 10, 9
	now.Requests[0].CompletedInWindow, now.Requests[0].ExpectedInWindow = 25, 20
	since, err := now.EndedSince(before)
	must.Succeed(t, err)
	r := &since.Requests[0]
	got := []int64{r.Sent, r.Due, r.Expected, r.Outcomes[Timeout], r.OnTime[0], r.Response.Count(), r.Failed.Service.Count(), r.CompletedInWindow, r.ExpectedInWindow, int64(since.Window)}
	same.As(t, "since", []int64{16, 16, 11, 5, 11, 16, 5, 15, 11, int64(time.Second)}, got)
	if _, err := before.EndedSince(now); err == nil {
		t.Error("counts that fall are taken")
	}
	if since, err := now.EndedSince(now); err != nil || since.Requests[0].Sent != 0 {
		t.Errorf("nothing ended: %v", err)
	}
	before.Requests[0].OnTime = nil // as a worker says that had none yet
	if since, err = now.EndedSince(before); err != nil || since.Requests[0].OnTime[0] != 20 {
		t.Errorf("on time since none were: %v, %v", since, err)
	}
}
