package attack

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// isSchedule checks that requests with the path /${seq} are the whole schedule
// of n, each sent once or counted as unsent: on a busy machine, the last of a
// step may be.
func isSchedule(t *testing.T, s *measure.Measurement, o *oracle, n int64) {
	t.Helper()
	served := o.served()
	if q := total(t, s); s.Due != n || s.Unsent != n-q.Sent || q.Sent != int64(len(served)) || q.Sent == 0 || q.Outcomes[measure.Success] != q.Sent {
		t.Errorf("due %d, unsent %d, outcomes %v; want %d due, of which the server served %d", s.Due, s.Unsent, outcomes(q), n, len(served))
	}
	if once := slices.Compact(slices.Clone(served)); len(once) != len(served) {
		t.Errorf("%d requests were sent twice", len(served)-len(once))
	}
	for _, path := range served {
		if seq, err := strconv.ParseInt(path[1:], 10, 64); err != nil || seq < 0 || seq >= n {
			t.Errorf("%s is not in the schedule of %d", path, n)
		}
	}
}

func TestBurstSendsExactlyTheMix(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		var requests []source.Request
		want := map[string]int{}
		for _, name := range []string{"/a", "/b", "/c", "/d", "/e"} {
			requests = append(requests, get(name))
			want[name] = 30
		}
		r := d.runner(t, setup{url: o.URL, requests: requests})
		got := drive(t, r, usersStep(25, Burst{Requests: 6, Limit: time.Minute}))

		served := map[string]int{}
		for _, path := range o.served() {
			served[path]++
		}
		if diff := cmp.Diff(want, served); diff != "" {
			t.Errorf("the server served (-want +got):\n%s", diff)
		}
		for i, r := range got.Requests {
			if r.Sent != 30 || r.Outcomes[measure.Success] != 30 || r.Expected != 30 || r.ExpectedInWindow != 30 {
				t.Errorf("request %d: %+v, want 30 successes", i, r)
			}
		}
		if got.Due != 150 || got.Unsent != 0 {
			t.Errorf("due %d, unsent %d, want 150 and 0", got.Due, got.Unsent)
		}
		if got.Window <= 0 || got.Window >= time.Minute {
			t.Errorf("window %v, want the time to the last response", got.Window)
		}
	})
}

func TestUsersHaveAConnectionEachAndKeepItFromStepToStep(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		for i, want := range []int64{8, 0, 4} {
			users := []int64{8, 8, 12}[i]
			got := drive(t, r, usersStep(users, Burst{Requests: 5, Limit: time.Minute}))
			if got.ConnectionsOpened != want {
				t.Errorf("burst %d of %d users opened %d connections, want %d", i, users, got.ConnectionsOpened, want)
			}
		}
		if n := o.connections(); n != 12 {
			t.Errorf("the server saw %d connections, want 12", n)
		}
	})
}

// Two workers with a share each send together what one would: each request of
// the schedule once.
func TestSharesOfPacedUsersAreTogetherTheSchedule(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		o := newOracle(t, nil)
		rate, length := pace.Rate(30e6), 4*time.Second
		shares := []pace.Share{{First: 0, Stride: 2, Count: 4}, {First: 1, Stride: 2, Count: 3}}
		merged := measure.NewMeasurement(1)
		start := time.Now().Add(100 * time.Millisecond)
		var runs []*Execution
		for w, share := range shares {
			r := d.runner(t, setup{url: o.URL, worker: int32(w)})
			runs = append(runs, r.Start(StepShare{Share: share, Total: 7, Load: PacedUsers{Rate: rate, Duration: length}}, start))
		}
		for _, x := range runs {
			if err := merged.Merge(finish(t, x)); err != nil {
				t.Fatal(err)
			}
		}
		isSchedule(t, merged, o, 120)
		if merged.Window != length {
			t.Errorf("window %v, want %v", merged.Window, length)
		}
		if merged.ConnectionsOpened != 7 {
			t.Errorf("%d connections opened, want one for each of 7 users", merged.ConnectionsOpened)
		}
	})
}

func TestNothingIsSentBeforeItIsDue(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		var mu sync.Mutex
		arrived := map[string]time.Time{}
		o := newOracle(t, func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			arrived[r.URL.Path] = time.Now()
		})
		rate := pace.Rate(15e6)
		loads := map[string]StepShare{
			"users":    usersStep(5, PacedUsers{Rate: rate, Duration: time.Hour}),
			"arrivals": arrivalsStep(rate, time.Hour),
		}
		for name, step := range loads {
			t.Run(name, func(t *testing.T) {
				mu.Lock()
				clear(arrived)
				mu.Unlock()
				r := d.runner(t, setup{url: o.URL})
				start := time.Now().Add(50 * time.Millisecond)
				x := r.Start(step, start)
				until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Success] >= 30 })
				x.Cut()
				sent := finish(t, x).Requests[0].Sent
				mu.Lock()
				defer mu.Unlock()
				if n := int64(len(arrived)); n < 30 || n > sent {
					t.Errorf("sent %d, arrived %d; want 30 or more", sent, n)
				}
				if began, ok := x.Began(); !ok || began.Before(start) {
					t.Errorf("began at %v, %v, want after the start", began.Sub(start), ok)
				}
				for i := range sent {
					due := start.Add(rate.Due(i))
					if at, ok := arrived[fmt.Sprintf("/%d", i)]; ok && at.Before(due) {
						t.Errorf("request %d arrived %v before it was due", i, due.Sub(at))
					}
				}
			})
		}
	})
}

// One user is due every 20 ms, and its first request takes 200 ms. What the
// target made wait must show: the k-th response cannot come before 200 ms, so
// its response time is at least 200 ms - k*20 ms. The step is cut once the user
// has had those, however long this machine takes for them.
func TestResponseTimeCountsFromTheDueTime(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		var first atomic.Bool
		o := newOracle(t, func(http.ResponseWriter, *http.Request) {
			if first.CompareAndSwap(false, true) {
				<-time.After(200 * time.Millisecond)
			}
		})
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(1, PacedUsers{Rate: 50e6, Duration: time.Hour}), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Success] >= 10 })
		x.Cut()
		q := &finish(t, x).Requests[0]
		if q.Late < 9 {
			t.Errorf("%d of %d are late, want at least the 9 that were sent more than 10 ms late", q.Late, q.Sent)
		}
		// Of the n sorted response times the 10 longest are at least 20, 40, … 200 ms:
		// quantile 1-(i+0.5)/n is the (i+1)-th from the top.
		n := q.Response.Count()
		for i := 1; i < 10; i++ {
			d, ok := q.Response.Quantile(1 - (float64(i)+0.5)/float64(n))
			if least := time.Duration(10-i) * 20 * time.Millisecond; !ok || d < least {
				t.Errorf("the %d. longest response took %v, want at least %v", i+1, d, least)
			}
		}
		if q.Response.Max() < 200*time.Millisecond || q.Service.Max() < 200*time.Millisecond {
			t.Errorf("longest response %v, service %v; want at least 200 ms", q.Response.Max(), q.Service.Max())
		}
	})
}

func TestRequestsThatABusyUserMissedAreUnsent(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, _ := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(2, PacedUsers{Rate: 20e6, Duration: 3 * time.Second}), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Window == 3*time.Second })
		x.Cut()
		got := finish(t, x)
		if diff := cmp.Diff(map[string]int64{"unfinished": 2}, outcomes(total(t, got))); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if got.Due != 60 || got.Unsent != 58 || got.Window != 3*time.Second {
			t.Errorf("due %d, unsent %d, window %v; want 60, 58, 3s", got.Due, got.Unsent, got.Window)
		}
	})
}

func TestClosedUsersSendUntilTheWindowCloses(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, func(http.ResponseWriter, *http.Request) { <-time.After(5 * time.Millisecond) })
		r := d.runner(t, setup{url: o.URL})
		got := drive(t, r, usersStep(4, ClosedUsers{Duration: 3 * time.Second}))
		q := got.Requests[0]
		if served := int64(len(o.served())); q.Sent != served || q.Sent < 8 {
			t.Errorf("sent %d, the server served %d; want the same, at least 8", q.Sent, served)
		}
		if got.Due != q.Sent || got.Unsent != 0 || got.Window != 3*time.Second {
			t.Errorf("due %d, unsent %d, window %v", got.Due, got.Unsent, got.Window)
		}
		if shorter(q.Service.Min(), 5*time.Millisecond) {
			t.Errorf("shortest service %v, want at least the 5 ms that the server takes", q.Service.Min())
		}
	})
}

func TestDrainIsNotPartOfTheWindow(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, release := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(3, ClosedUsers{Duration: 3 * time.Second}), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Window == 3*time.Second })
		release()
		got := finish(t, x)
		q := total(t, got)
		if diff := cmp.Diff(map[string]int64{"success": 3}, outcomes(q)); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if q.CompletedInWindow != 0 || q.ExpectedInWindow != 0 || q.Expected != 3 {
			t.Errorf("%d completed in the window, want none: they came in the drain", q.CompletedInWindow)
		}
	})
}

func TestBurstIsCutAtItsLimit(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, _ := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL})
		got := drive(t, r, usersStep(3, Burst{Requests: 4, Limit: 3 * time.Second}))
		if diff := cmp.Diff(map[string]int64{"unfinished": 3}, outcomes(total(t, got))); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if got.Due != 12 || got.Unsent != 9 || got.Window != 3*time.Second {
			t.Errorf("due %d, unsent %d, window %v; want 12, 9, 3s", got.Due, got.Unsent, got.Window)
		}
	})
}

func TestCutBeforeTheStartSendsNothing(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		loads := map[string]StepShare{
			"paced":    usersStep(2, PacedUsers{Rate: 1e6, Duration: time.Second}),
			"closed":   usersStep(2, ClosedUsers{Duration: time.Second}),
			"burst":    usersStep(2, Burst{Requests: 1, Limit: time.Second}),
			"arrivals": arrivalsStep(10e6, time.Second),
		}
		for name, step := range loads {
			t.Run(name, func(t *testing.T) {
				o := newOracle(t, nil)
				r := d.runner(t, setup{url: o.URL})
				x := r.Start(step, time.Now().Add(time.Hour))
				x.Cut()
				x.Cut()
				got := finish(t, x)
				if _, ok := x.Began(); ok || total(t, got).Sent != 0 || len(o.served()) != 0 {
					t.Errorf("sent %d, served %d, want nothing", total(t, got).Sent, len(o.served()))
				}
				if got.Window != 0 {
					t.Errorf("window %v, want 0", got.Window)
				}
			})
		}
	})
}

// A worker that starts too late sends the requests that became due before, late,
// until the window closes.
func TestLateStartSendsTheRestOfTheWindow(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		tests := map[string]struct {
			ago          time.Duration
			due, atLeast int64
		}{
			"within the window": {ago: 200 * time.Millisecond, due: 30, atLeast: 1},
			"after the window":  {ago: time.Hour, due: 30},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				o := newOracle(t, nil)
				r := d.runner(t, setup{url: o.URL})
				x := r.Start(usersStep(3, PacedUsers{Rate: 10e6, Duration: 3 * time.Second}), time.Now().Add(-tt.ago))
				got := finish(t, x)
				q := total(t, got)
				if got.Due != tt.due || q.Sent != int64(len(o.served())) || q.Late < tt.atLeast || (tt.atLeast == 0 && q.Sent != 0) {
					t.Errorf("due %d, sent %d, late %d", got.Due, q.Sent, q.Late)
				}
			})
		}
	})
}

func TestPrepareOpensTheConnections(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		step := usersStep(10, Burst{Requests: 1, Limit: time.Minute})
		r.Prepare(t.Context(), step)
		o.accepts(t, 10)
		if got := drive(t, r, step); got.ConnectionsOpened != 10 || o.connections() != 10 {
			t.Errorf("the step counts %d connections, the server %d; want 10 each", got.ConnectionsOpened, o.connections())
		}
	})
}
