package measure

import (
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// mixed is a measurement of three requests, of which the last two are reported together by one
// worker, and apart by another: request i has i+1 times of each worker.
func mixed(t *testing.T) *Measurement {
	t.Helper()
	one := func() *Measurement {
		s := NewMeasurement(3)
		for i := range s.Requests {
			r, n := &s.Requests[i], int64(i+1)
			r.Sent, r.Expected, r.Outcomes[Success], r.Due = n, n, n, n+1
			r.Response.RecordN(time.Duration(i+1)*time.Millisecond, n)
			r.Service.RecordN(time.Millisecond, n)
			r.CountStatus(200, n)
			r.OnTime, r.Overdue = []int64{n}, []int64{n}
			r.Errors = map[Outcome]string{Timeout: "late"}
			s.Due += n + 1
		}
		return s
	}
	grouped, err := one().Group([]int32{0, 1, 1})
	must.Succeed(t, err)
	if grouped.Requests[0].Errors != nil {
		t.Error("groups are reported with the errors of their requests")
	}
	all := one()
	must.Succeed(t, all.Merge(grouped))
	must.Succeed(t, all.Merge(&Measurement{Requests: make([]Request, 3)}))
	return all
}

// What is told of a group is known of the requests of the group together, and of a request only
// if it is the group.
func TestWhatIsKnownOfGroups(t *testing.T) {
	all := mixed(t)
	for name, tc := range map[string]struct {
		of                  []int
		sent, times, onTime int64
	}{
		"a group by itself":   {of: []int{0}, sent: 2, times: 2, onTime: 2},
		"a part of a group":   {of: []int{1}, sent: 4, times: 2, onTime: 2},
		"the other part":      {of: []int{2}, sent: 6, times: 3, onTime: 3},
		"a group":             {of: []int{1, 2}, sent: 10, times: 10, onTime: 10},
		"a group and a part":  {of: []int{0, 2}, sent: 8, times: 5, onTime: 5},
		"all":                 {of: []int{0, 1, 2}, sent: 12, times: 12, onTime: 12},
		"none of the request": {},
	} {
		got, err := all.Of(func(i int) bool { return slices.Contains(tc.of, i) })
		must.Succeed(t, err)
		onTime := int64(0)
		if len(got.OnTime) > 0 {
			onTime = got.OnTime[0]
		}
		if got.Sent != tc.sent || got.StatusCodes[200] != tc.sent || got.Response.Count() != tc.times || got.Service.Count() != tc.times || onTime != tc.onTime {
			t.Errorf("%s: %d sent, %v, %d times, %d on time; want %+v", name, got.Sent, got.StatusCodes, got.Response.Count(), onTime, tc)
		}
		if len(tc.of) != 1 {
			continue
		}
		alone, err := all.Alone(tc.of[0])
		must.Succeed(t, err)
		same.As(t, name+" alone", got, alone)
	}
	plain := NewMeasurement(3)
	grouped, err := plain.Group([]int32{0, 1, 1})
	must.Succeed(t, err)
	for i := range 3 {
		of, err := plain.Alone(i)
		must.Succeed(t, err)
		alone, err := grouped.Alone(i)
		must.Succeed(t, err)
		if of.Response == nil || (alone.Response != nil) != (i == 0) {
			t.Errorf("request %d has times: %t; in its group: %t", i, of.Response != nil, alone.Response != nil)
		}
	}
	total, err := all.Total()
	if err != nil || total.Due != all.Due || total.Errors[Timeout] != "late" {
		t.Errorf("%d due of %d, errors %v, %v", total.Due, all.Due, total.Errors, err)
	}
}

func TestEndedSinceOfGroups(t *testing.T) {
	before, after := mixed(t), mixed(t)
	must.Succeed(t, after.Merge(mixed(t)))
	since, err := after.EndedSince(before)
	must.Succeed(t, err)
	got, err := since.Total()
	must.Succeed(t, err)
	if got.Sent != 12 || got.Response.Count() != 12 || got.OnTime[0] != 12 || since.Due != 12 {
		t.Errorf("%d sent, %d times, %v on time, %d due since; want 12 of each", got.Sent, got.Response.Count(), got.OnTime, since.Due)
	}
	fewer := *after
	fewer.Grouped = before.Grouped
	for name, pair := range map[string][2]*Measurement{
		"fewer": {before, after}, "fewer of the groups": {&fewer, after}, "without groups": {NewMeasurement(3), after}, "since there were groups": {after, NewMeasurement(3)},
	} {
		if since, err := pair[0].EndedSince(pair[1]); err == nil {
			t.Errorf("%s: %+v ended since, want an error", name, since)
		}
	}
}

func TestOtherGroupsAreNotMerged(t *testing.T) {
	s := NewMeasurement(3)
	if _, err := s.Group([]int32{0, 0}); err == nil {
		t.Error("groups of two requests are taken for three")
	}
	one, err := s.Group([]int32{0, 0, 0})
	must.Succeed(t, err)
	two, err := s.Group([]int32{0, 0, 1})
	must.Succeed(t, err)
	if err := one.Merge(two); err == nil {
		t.Error("two groups are merged into one")
	}
}
