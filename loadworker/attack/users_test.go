package attack

import (
	"cmp"
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// isSchedule checks that requests with the path /${seq} are the whole schedule of n, each sent
// once and answered.
func isSchedule(t *testing.T, s *measure.Measurement, o *oracle, n int64) {
	t.Helper()
	if diff := gocmp.Diff(map[string]int64{"success": n}, outcomes(total(t, s))); diff != "" || s.Due != n || s.Unsent != 0 {
		t.Errorf("due %d, unsent %d; outcomes (-want +got):\n%s", s.Due, s.Unsent, diff)
	}
	want := map[string]int{}
	for seq := range n {
		want["/"+strconv.FormatInt(seq, 10)] = 1
	}
	if diff := gocmp.Diff(want, o.counts()); diff != "" {
		t.Errorf("the server served (-want +got):\n%s", diff)
	}
}

// wantUnsent checks what became of the requests of a step, by name, and how many were unsent in
// its window.
func wantUnsent(t *testing.T, s *measure.Measurement, window time.Duration, unsent int64, sent map[string]int64) {
	t.Helper()
	due := unsent
	for _, n := range sent {
		due += n
	}
	if diff := gocmp.Diff(sent, outcomes(total(t, s))); diff != "" || s.Due != due || s.Unsent != unsent || s.Window != window {
		t.Errorf("due %d, unsent %d, window %v; want %d, %d, %v; outcomes (-want +got):\n%s", s.Due, s.Unsent, s.Window, due, unsent, window, diff)
	}
}

func TestBurstSendsExactlyTheMix(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		var requests []source.Request
		want := map[string]int{}
		for _, name := range []string{"/a", "/b", "/c", "/d", "/e"} {
			requests = append(requests, get(name))
			want[name] = 30
		}
		got := drive(t, d.runner(t, setup{url: o.URL, requests: requests}), usersStep(25, Burst{Requests: 6, Limit: time.Minute}))
		if diff := gocmp.Diff(want, o.counts()); diff != "" {
			t.Errorf("the server served (-want +got):\n%s", diff)
		}
		for i, r := range got.Requests {
			if r.Sent != 30 || r.Outcomes[measure.Success] != 30 || r.Expected != 30 || r.ExpectedInWindow != 30 {
				t.Errorf("request %d: %+v, want 30 successes", i, r)
			}
		}
		isSent(t, got, 150, 6*latency) // the time to the last response
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

// One user is due every 20 ms, and its first request takes 200 ms. What the target made wait
// shows: of the k-th request, 200 ms - k*20 ms.
func TestResponseTimeCountsFromTheDueTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/0" {
				<-time.After(200 * ms)
			}
		})
		q := drive(t, d.runner(t, setup{url: o.URL}), usersStep(1, PacedUsers{Rate: 50e6, Duration: time.Second})).Requests[0]
		if q.Sent != 50 || q.Late != 9 {
			t.Errorf("%d of %d are late, want the 9 of 50 that were sent more than 10 ms late", q.Late, q.Sent)
		}
		for k := 1; k < 12; k++ { // quantile 1-(k+0.5)/50 is the (k+1)-th from the top
			got, _ := q.Response.Quantile(1 - (float64(k)+0.5)/50)
			if want := max(0, 200-20*time.Duration(k)) * ms; got.Round(ms) != want {
				t.Errorf("response %d took %v, want %v", k, got, want)
			}
		}
		if service, response := latencies(q.Service), latencies(q.Response); service != "0s to 200ms" || response != service {
			t.Errorf("service times %s, response times %s; want none longer than that of the first", service, response)
		}
	})
}

// A target that holds what it gets costs as many requests as were sent, and those that found no
// user and no connection are unsent.
func TestATargetThatHoldsRequests(t *testing.T) {
	const never = time.Hour
	for name, tt := range map[string]struct {
		step     StepShare
		holds    time.Duration
		timeout  time.Duration
		maxConns int
		window   time.Duration // 0: that of the load
		unsent   int64
		outcomes map[string]int64
		times    string
	}{
		"a busy user misses its turns": {step: usersStep(2, PacedUsers{Rate: 20e6, Duration: 3 * time.Second}), holds: never,
			unsent: 58, outcomes: map[string]int64{"timeout": 2}, times: "20s"},
		"answers come in the drain": {step: usersStep(3, ClosedUsers{Duration: 3 * time.Second}), holds: 3001 * ms,
			outcomes: map[string]int64{"success": 3}, times: "3s"},
		// The users but the first end after 1/4 and 3/4 of the time.
		"users of a ramp have ended": {step: rampStep(RampedUsers{From: 3, To: 1, Duration: 8 * time.Second}), holds: 8001 * ms,
			outcomes: map[string]int64{"success": 3}, times: "8s"},
		"a burst is cut at its limit": {step: usersStep(3, Burst{Requests: 4, Limit: 3 * time.Second}), holds: never,
			unsent: 9, outcomes: map[string]int64{"unfinished": 3}, times: "0s"},
		"a burst has timeouts": {step: usersStep(3, Burst{Requests: 2, Limit: time.Minute}), holds: never, timeout: 50 * ms, window: 100 * ms,
			outcomes: map[string]int64{"timeout": 6}, times: "50ms"},
		"arrivals have timeouts": {step: arrivalsStep(100e6, 100*ms), holds: never, timeout: 300 * ms,
			outcomes: map[string]int64{"timeout": 10}, times: "300ms"},
		"arrivals beyond the connections": {step: arrivalsStep(10e6, 3*time.Second), holds: 3001 * ms, maxConns: 2,
			unsent: 28, outcomes: map[string]int64{"success": 2}, times: "3s"},
	} {
		t.Run(name, func(t *testing.T) {
			each := inVirtualTime
			if _, ok := tt.step.Load.(Arrivals); ok {
				each = arrivalsInVirtualTime
			}
			each(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(tt.holds):
					case <-r.Context().Done():
					}
				})
				got := drive(t, d.runner(t, setup{url: o.URL, timeout: tt.timeout, maxConns: tt.maxConns}), tt.step)
				wantUnsent(t, got, cmp.Or(tt.window, tt.step.Load.length()), tt.unsent, tt.outcomes)
				q := total(t, got)
				if latencies(q.Service) != tt.times || got.Lateness.Max() != 0 {
					t.Errorf("service times %s, lateness %v; want %s and none", latencies(q.Service), got.Lateness.Max(), tt.times)
				}
				if q.CompletedInWindow != 0 || q.ExpectedInWindow != 0 || q.Expected != tt.outcomes["success"] {
					t.Errorf("%d completed in the window, %d expected; want none", q.CompletedInWindow, q.Expected)
				}
			})
		})
	}
}

func TestCutBeforeTheStartSendsNothing(t *testing.T) {
	for name, step := range map[string]StepShare{
		"paced":    usersStep(2, PacedUsers{Rate: 1e6, Duration: time.Second}),
		"closed":   usersStep(2, ClosedUsers{Duration: time.Second}),
		"burst":    usersStep(2, Burst{Requests: 1, Limit: time.Second}),
		"arrivals": arrivalsStep(10e6, time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, nil)
				x := d.runner(t, setup{url: o.URL}).Start(step, time.Now().Add(time.Minute))
				<-time.After(59 * time.Second)
				x.Cut()
				x.Cut()
				wantUnsent(t, finish(t, x), 0, 0, map[string]int64{})
				if _, ok := x.Began(); ok || len(o.arrivals()) != 0 {
					t.Errorf("%d served, want nothing", len(o.arrivals()))
				}
			})
		})
	}
}

// A worker that starts too late sends the requests that became due before, late, until the
// window closes. Of users who think, all but the first requests would have been after a response.
func TestLateStartSendsTheRestOfTheWindow(t *testing.T) {
	paced, thinking := PacedUsers{Rate: 10e6, Duration: 3 * time.Second}, ClosedUsers{Duration: 4 * time.Second, Think: fixed(200 * ms)}
	for name, tt := range map[string]struct {
		step               StepShare
		ago                time.Duration
		sent, unsent, late int64
		latest             time.Duration
	}{
		"within the window":           {step: usersStep(3, paced), ago: 200 * ms, sent: 30, late: 2, latest: 200 * ms},
		"after the window":            {step: usersStep(3, paced), ago: time.Hour, unsent: 30},
		"users who think":             {step: usersStep(4, thinking), ago: 700 * ms, sent: 4 * 17, late: 4, latest: 700 * ms},
		"users who think, afterwards": {step: usersStep(10, ClosedUsers{Duration: time.Second, Think: fixed(2 * time.Second)}), ago: 2 * time.Second, unsent: 5},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, func(http.ResponseWriter, *http.Request) {})
				got := finish(t, d.runner(t, setup{url: o.URL}).Start(tt.step, time.Now().Add(-tt.ago)))
				sent := map[string]int64{"success": tt.sent}
				maps.DeleteFunc(sent, func(_ string, n int64) bool { return n == 0 })
				wantUnsent(t, got, tt.step.Load.length(), tt.unsent, sent)
				if q := total(t, got); q.Late != tt.late || got.Lateness.Max().Round(ms) != tt.latest || int64(len(o.arrivals())) != tt.sent {
					t.Errorf("%d late, at most %v, %d served; want %d, %v, %d", q.Late, got.Lateness.Max(), len(o.arrivals()), tt.late, tt.latest, tt.sent)
				}
			})
		})
	}
}

// A step that is cut ends at once, and counts what was due until then.
func TestCutEndsUsers(t *testing.T) {
	for name, tt := range map[string]struct {
		step StepShare
		sent int64 // until 105 ms
	}{
		"paced":                        {usersStep(2, PacedUsers{Rate: 100e6, Duration: time.Hour}), 11},
		"who think":                    {usersStep(1, ClosedUsers{Duration: time.Hour, Think: fixed(time.Minute)}), 1},
		"of a burst, who think":        {usersStep(1, Burst{Requests: 2, Limit: time.Hour, Think: fixed(time.Minute)}), 1},
		"a ramp with a rate":           {rampStep(RampedUsers{From: 1, To: 1000, Each: 100e6, Duration: time.Hour}), 11},
		"a ramp, as replies come":      {rampStep(RampedUsers{From: 1, To: 1000, Duration: time.Hour}), 21},
		"a ramp of users who think":    {rampStep(RampedUsers{From: 1, To: 1000, Duration: time.Hour, Think: fixed(45 * ms)}), 3},
		"a ramp down, with a rate":     {rampStep(RampedUsers{From: 10, To: 1, Each: 10e6, Duration: time.Hour}), 11},
		"a ramp down, as replies come": {rampStep(RampedUsers{From: 10, To: 1, Duration: time.Hour}), 210},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o, start := d.oracle(t, nil), time.Now()
				x := d.runner(t, setup{url: o.URL}).Start(tt.step, start)
				<-time.After(104 * ms)
				x.Cut()
				got := finish(t, x)
				q := total(t, got)
				if got.Due != tt.sent || q.Sent != tt.sent || int64(len(o.arrivals())) != tt.sent || got.Window != 104*ms || time.Since(start) != 104*ms {
					t.Errorf("due %d, sent %d, served %d in a window of %v; want %d", got.Due, q.Sent, len(o.arrivals()), got.Window, tt.sent)
				}
			})
		})
	}
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
