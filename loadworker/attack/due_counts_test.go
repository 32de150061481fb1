package attack

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// mixed is an execution of a share of a step, of a mix of three requests, that was not
// begun.
func mixed(t *testing.T, step StepShare, times ...time.Duration) *Execution {
	t.Helper()
	requests := []source.Request{get("/a"), get("/b"), get("/c")}
	requests[0].Weight, requests[1].Weight = 5, 2
	src, err := source.New(source.Config{Requests: requests, Workers: 3})
	must.Succeed(t, err)
	x := &Execution{step: step, source: src, rec: newRecorder(len(requests), time.Hour, times, nil)}
	x.schedule = step.Load.schedule(step, Config{Source: src, Timeout: time.Second, MaxConnections: 10, Worker: int32(step.Share.First)})
	x.end.Store(int64(step.Load.length()))
	return x
}

// What is due of each request is what its due times say, at any instant.
func TestDueOfEachRequest(t *testing.T) {
	share := pace.Share{First: 1, Stride: 3, Count: 4}
	const length = 3 * time.Second
	for name, load := range map[string]Load{
		"users":    PacedUsers{Rate: 31_700_000, Duration: length},
		"users up": RampedUsers{From: 3, To: 11, Each: 6_100_000, Duration: length},
		"fewer":    RampedUsers{From: 11, To: 3, Each: 6_100_000, Duration: length},
		"arrivals": Arrivals{Rate: 41_000_000, Duration: length},
		"ramp":     Arrivals{Rate: 1_000_000, End: 60_000_000, Duration: length},
		"Poisson":  Arrivals{Rate: 41_000_000, Duration: length, Poisson: true},
	} {
		for _, warmUp := range []time.Duration{0, 700 * ms} {
			step := StepShare{Share: share, Total: 11, WarmUp: warmUp, Load: load}
			if _, ok := load.(Arrivals); ok {
				step.Share.Count = 1000
			}
			x := mixed(t, step)
			for _, until := range []time.Duration{-1, 0, 1, 333 * ms, time.Second, 2999 * ms, length} {
				t.Run(fmt.Sprintf("%s, %v of warm-up, until %v", name, warmUp, until), func(t *testing.T) {
					same.As(t, "due", visited(x, until), x.dueBefore(until))
				})
			}
		}
	}
}

// visited counts what is due in the window before an instant, one request at a time.
func visited(x *Execution, until time.Duration) []int64 {
	counts := make([]int64, 3)
	count := func(due time.Duration, request int) bool {
		if due >= 0 && due < until {
			counts[request]++
		}
		return due < until
	}
	switch s := x.schedule.(type) {
	case *pacedUsers:
		for j := range s.share.Count {
			for k := int64(0); count(s.turns.Due(j, k), x.source.RequestOf(s.share.Number(j), k)); k++ {
			}
		}
	case *rampedUsers:
		for j := range s.share.Count {
			user := s.share.Number(j)
			for k := int64(0); ; k++ {
				due, ok := s.turns.Due(user, k)
				if !ok || !count(due, x.source.RequestOf(user, k)) {
					break
				}
			}
		}
	case *arrivals:
		for n := int64(0); count(s.dueTimes.Due(n), x.source.RequestOf(x.source.Position(s.share.Number(n)), 0)); n++ {
		}
	}
	return counts
}

// A request is overdue once it was due for longer than the bound, and a little, so that
// one that was answered in time is counted as such by then.
func TestOverdueOfARunningStep(t *testing.T) {
	load := PacedUsers{Rate: 100_000_000, Duration: 10 * time.Second} // 100 in a second
	x := mixed(t, StepShare{Share: pace.Share{Stride: 1, Count: 10}, Total: 10, Load: load}, 200*ms, time.Second)
	for name, tt := range map[string]struct {
		before, after time.Duration
		whole         bool
		due           int64
		overdue       []int64
	}{
		"before the first can be": {200 * ms, 200 * ms, false, 21, []int64{0, 0}},
		"in the window":           {2 * time.Second, 2010 * ms, false, 202, []int64{170, 90}},
		"in the drain":            {10500 * ms, 10500 * ms, false, 1000, []int64{1000, 940}},
		"at the end":              {10 * time.Second, 10 * time.Second, true, 1000, []int64{1000, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := x.rec.collect()
			must.Succeed(t, err)
			x.fillDue(s, tt.before, tt.after, tt.whole)
			overdue := make([]int64, 2)
			for i := range s.Requests {
				for n := range overdue {
					overdue[n] += s.Requests[i].Overdue[n]
				}
			}
			if s.Due != tt.due || !cmp.Equal(overdue, tt.overdue) {
				t.Errorf("due %d, overdue %v; want %d, %v", s.Due, overdue, tt.due, tt.overdue)
			}
		})
	}
}

// Of a burst that was carried out, all is due of each request that was planned, sent or
// not.
func TestDueOfABurst(t *testing.T) {
	x := mixed(t, StepShare{Share: pace.Share{First: 1, Stride: 2, Count: 2}, Total: 4, Load: Burst{Requests: 8, Limit: time.Second}})
	s, err := x.rec.collect()
	must.Succeed(t, err)
	x.fillDue(s, time.Second, time.Second, true)
	if got := []int64{s.Requests[0].Due, s.Requests[1].Due, s.Requests[2].Due, s.Due}; !cmp.Equal(got, []int64{10, 4, 2, 16}) {
		t.Errorf("due %v, want two cycles of 5, 2 and 1: 16", got)
	}
}

// On time is exact, where a histogram knows a time to a thousandth only.
func TestOnTimeIsCountedToTheNanosecond(t *testing.T) {
	r := newRecorder(1, time.Minute, []time.Duration{200 * ms, time.Second}, nil)
	for _, took := range []time.Duration{ms, 200 * ms, 200*ms + 1, 200*ms + 50*time.Microsecond, time.Second, time.Second + 1} {
		r.countSent(0, &hit{sent: 5 * ms})
		r.countEnd(0, &hit{sent: 5 * ms}, result{received: took, expected: true})
	}
	r.countSent(0, &hit{})
	r.countEnd(0, &hit{}, result{received: ms, outcome: measure.Refused}) // an error that came fast
	s := collect(t, r)
	q := &s.Requests[0]
	if !cmp.Equal(q.OnTime, []int64{2, 5}) || q.Expected != 6 || q.Failed.Response.Count() != 1 {
		t.Errorf("on time %v of %d expected, %d failed", q.OnTime, q.Expected, q.Failed.Response.Count())
	}
}
