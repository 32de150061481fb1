package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The series of a step says of each second what the step says of the whole, for every
// kind of load.
func TestSeriesAddsUpToTheStep(t *testing.T) {
	const users, seconds = 4, 2
	share := pace.Share{Stride: 1, Count: users}
	loads := map[string]StepShare{
		"paced users":  {Share: share, Total: users, Load: PacedUsers{Rate: 100e6, Duration: seconds * time.Second}},
		"closed users": {Share: share, Total: users, Load: ClosedUsers{Duration: seconds * time.Second}},
		"a burst":      {Share: share, Total: users, Load: Burst{Requests: 400, Limit: time.Minute}},
		"arrivals":     arrivalsStep(100e6, seconds*time.Second),
		"a warm-up":    {Share: share, Total: users, WarmUp: time.Second, Load: PacedUsers{Rate: 100e6, Duration: seconds * time.Second}},
	}
	for name, step := range loads {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				x := d.runner(t, setup{url: d.oracle(t, nil).URL}).Start(step, time.Now())
				s := finish(t, x)
				all := x.Series(s.Due)
				wantSeries(t, all, s, measure.Points(step.Load.length()))
				for i := range min(seconds, len(all.Points)) {
					if p := &all.Points[i]; p.Due != s.Due/seconds || p.Sent != p.Due || p.Longest != latency {
						t.Errorf("of %d due, %d are due in second %d, %d sent, the longest takes %v", s.Due, p.Due, i, p.Sent, p.Longest)
					}
				}
			})
		})
	}
}

// A step that is cut is due until then, and what was in flight ended in no second.
func TestSeriesOfACutStep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		handle, _ := hold(t)
		x := d.runner(t, setup{url: d.oracle(t, handle).URL}).Start(arrivalsStep(100e6, time.Minute), time.Now())
		<-time.After(1205 * ms)
		x.Cut()
		s := finish(t, x)
		wantUnsent(t, s, 1205*ms, 0, map[string]int64{"unfinished": 121})
		all := x.Series(s.Due)
		wantSeries(t, all, s, 61)
		for i, p := range all.Points {
			if want := []int64{100, 21, 0}[min(i, 2)]; p.Due != want || p.Sent != want {
				t.Errorf("%d were due in second %d, and %d sent; want %d", p.Due, i, p.Sent, want)
			}
		}
	})
}

// wantSeries says where a series and its step differ.
func wantSeries(t *testing.T, all *measure.Series, s *measure.Measurement, points int) {
	t.Helper()
	if len(all.Points) != points {
		t.Fatalf("%d points, want %d", len(all.Points), points)
	}
	q, err := s.Total()
	must.Succeed(t, err)
	q.Outcomes[measure.Unfinished] = 0
	var sum measure.Point
	for i := range all.Points {
		p := &all.Points[i]
		if p.Due < 0 {
			t.Errorf("point %d: %d were due", i, p.Due)
		}
		sum.Due, sum.Sent, sum.Expected = sum.Due+p.Due, sum.Sent+p.Sent, sum.Expected+p.Expected
		for o, n := range p.Outcomes {
			sum.Outcomes[o] += n
		}
		sum.Longest = max(sum.Longest, p.Longest)
		sum.FirstOnConnection += p.FirstOnConnection
	}
	// What did not end may have been sent on a connection that had carried others.
	if on := sum.Completed() - sum.FirstOnConnection; on > s.Reused || on < s.Reused && sum.Ended() == q.Sent {
		t.Errorf("%d responses of %d were the first on their connection, %d requests were not", sum.FirstOnConnection, sum.Completed(), s.Reused)
	}
	if sum.Due != s.Due || sum.Sent != q.Sent || sum.Expected != q.Expected || sum.Outcomes != q.Outcomes {
		t.Errorf("the points add up to due %d, sent %d, expected %d, %v; the step has %d, %d, %d, %v",
			sum.Due, sum.Sent, sum.Expected, sum.Outcomes, s.Due, q.Sent, q.Expected, q.Outcomes)
	}
	if longest := q.Response.Max(); (sum.Longest - longest).Abs() > longest/100 {
		t.Errorf("longest %v, the step's %v", sum.Longest, longest)
	}
}
