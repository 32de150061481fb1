package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The series of a step says of each second what the step says of the whole, for every
// kind of load.
func TestSeriesAddsUpToTheStep(t *testing.T) {
	const users, seconds = 4, 2
	share := pace.Share{Stride: 1, Count: users}
	loads := map[string]StepShare{
		"paced users":  {Share: share, Total: users, Load: PacedUsers{Rate: 100e6, Duration: seconds * time.Second}},
		"closed users": {Share: share, Total: users, Load: ClosedUsers{Duration: seconds * time.Second}},
		"a burst":      {Share: share, Total: users, Load: Burst{Requests: 50, Limit: time.Minute}},
		"arrivals":     arrivalsStep(100e6, seconds*time.Second),
		"a warm-up":    {Share: share, Total: users, WarmUp: time.Second, Load: PacedUsers{Rate: 100e6, Duration: seconds * time.Second}},
	}
	for name, step := range loads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachDriver(t, func(t *testing.T, d testDriver) {
				r := d.runner(t, setup{url: newOracle(t, nil).URL, maxConns: 8})
				x := r.Start(step, time.Now().Add(200*time.Millisecond))
				<-x.Done()
				s, err := x.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				wantSeries(t, x.Series(s.Due), s, measure.Points(step.Load.length()))
			})
		})
	}
}

// A step that is cut is due until then, and what was in flight ended in no second.
func TestSeriesOfACutStep(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		handle, release := hold(t)
		defer release()
		r := d.runner(t, setup{url: newOracle(t, handle).URL, maxConns: 400})
		x := r.Start(arrivalsStep(100e6, time.Minute), time.Now())
		until(t, x, func(s *measure.Measurement) bool {
			return s.Window > 1200*time.Millisecond && s.Requests[0].Sent > 0
		})
		x.Cut()
		<-x.Done()
		s, err := x.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		all := x.Series(s.Due)
		wantSeries(t, all, s, 61)
		unfinished := s.Requests[0].Outcomes[measure.Unfinished]
		if unfinished == 0 {
			t.Error("none is unfinished")
		}
		for i, p := range all.Points {
			from := time.Duration(i) * time.Second
			if whole := from+time.Second <= s.Window; whole && p.Due != 100 || from > s.Window && p.Due != 0 {
				t.Errorf("%d were due in second %d; want 100 in each whole one before the cut at %v, and none after it", p.Due, i, s.Window)
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
	if err != nil {
		t.Fatal(err)
	}
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
	}
	if sum.Due != s.Due || sum.Sent != q.Sent || sum.Expected != q.Expected || sum.Outcomes != q.Outcomes {
		t.Errorf("the points add up to due %d, sent %d, expected %d, %v; the step has %d, %d, %d, %v",
			sum.Due, sum.Sent, sum.Expected, sum.Outcomes, s.Due, q.Sent, q.Expected, q.Outcomes)
	}
	if longest := q.Response.Max(); (sum.Longest - longest).Abs() > longest/100 {
		t.Errorf("longest %v, the step's %v", sum.Longest, longest)
	}
}
