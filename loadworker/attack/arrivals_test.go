package attack

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// While the target holds every response, arrivals go on arriving.
func TestArrivalsDoNotWaitForResponses(t *testing.T) {
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(http.ResponseWriter, *http.Request) { <-time.After(990 * ms) })
		start := time.Now()
		got := drive(t, d.runner(t, setup{url: o.URL}), arrivalsStep(50e6, 4*time.Second))
		wantUnsent(t, got, 4*time.Second, 0, map[string]int64{"success": 200})
		o.isOnTime(t, 200, func(seq int64) time.Time { return start.Add(pace.Rate(50e6).Due(seq)) })
		want := int64(50) // in flight
		if d.http2() && d.engine == streamTestDriver.engine {
			want = 1 // which they share
		}
		if got.ConnectionsOpened != want || int64(o.connections()) != want {
			t.Errorf("%d connections opened, the server saw %d; want %d", got.ConnectionsOpened, o.connections(), want)
		}
	})
}

func TestArrivalsReuseConnections(t *testing.T) {
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		r := d.runner(t, setup{url: o.URL, maxConns: 2})
		step := arrivalsStep(20e6, time.Second)
		first := drive(t, r, step).ConnectionsOpened
		if second := drive(t, r, step).ConnectionsOpened; first < 1 || first > 2 || second != 0 || int64(o.connections()) != first {
			t.Errorf("%d and %d connections opened for 20 hits each, one after another; the server saw %d", first, second, o.connections())
		}
	})
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	tests := map[string]struct {
		rate        pace.Rate
		timeout     time.Duration
		own         []time.Duration
		connections int
		want        int
	}{
		"few at a low rate":              {rate: 1e6, timeout: time.Second, connections: 1000, want: 64},
		"rate x timeout by Little's law": {rate: 100e6, timeout: 3 * time.Second, connections: 1000, want: 300},
		"by the longest of requests":     {rate: 100e6, timeout: time.Minute, own: []time.Duration{time.Second, 3 * time.Second}, connections: 1000, want: 300},
		"bounded by the connections":     {rate: 10000e6, timeout: 30 * time.Second, connections: 1000, want: 1000},
		"even below the few":             {rate: 1e6, timeout: time.Second, connections: 2, want: 2},
		"an absurd rate":                 {rate: 1 << 62, timeout: time.Hour, connections: 1000, want: 1000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			load, step := Arrivals{Rate: tt.rate, Duration: time.Second}, StepShare{Share: all(100), Total: 100}
			s := load.schedule(step, Config{Source: oneRequest(t), Timeout: tt.timeout, timeouts: tt.own, MaxConnections: tt.connections})
			if got := s.(*arrivals).limit; got != tt.want {
				t.Errorf("limit %d, want %d", got, tt.want)
			}
		})
	}
}

// A target that stands still holds each request for its timeout: those that are drawn within
// any such time find a place, in each of the parts into which processors divide them.
func TestDrawnRequestsInFlightFindPlaces(t *testing.T) {
	const timeout, window = 5 * time.Second, 1000 * time.Second
	load, step := Arrivals{Rate: 20e6, Duration: window, Poisson: true}, StepShare{Share: all(0)}
	a := load.schedule(step, Config{Source: oneRequest(t), Timeout: timeout, MaxConnections: 100_000}).(*arrivals)
	parts := int64(processors())
	var due []time.Duration
	for n := int64(0); n < a.dueTimes.Before(window); n++ {
		due = append(due, a.dueTimes.Due(n))
	}
	most := int64(0)
	for part := range parts {
		first := part
		for n := part; n < int64(len(due)); n += parts {
			for due[n]-due[first] >= timeout {
				first += parts
			}
			most = max(most, (n-first)/parts+1)
		}
	}
	if room := int64(a.limit) / parts; most > room || len(due) < 19_000 {
		t.Errorf("%d of %d are due within %s, and %d may be in flight", most, len(due), timeout, room)
	}
}

func TestEmptyShareSendsNothing(t *testing.T) {
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		got := drive(t, d.runner(t, setup{url: o.URL}), StepShare{Share: pace.Share{First: 5, Stride: 9}, Total: 5, Load: Arrivals{Rate: 50e6, Duration: 100 * ms}})
		wantUnsent(t, got, 100*ms, 0, map[string]int64{})
	})
}

// Vegeta's client follows redirects: the responses that it gets have no location.
func TestArrivalsDoNotFollowRedirects(t *testing.T) {
	for _, code := range []int{301, 302, 307, 308} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(code)
				})
				moved := get("/${seq}")
				moved.Expect.Status = []int32{int32(code)}
				r := d.runner(t, setup{url: o.URL, requests: []source.Request{moved}})
				isSchedule(t, drive(t, r, arrivalsStep(2e6, 2*time.Second)), o, 4)
			})
		})
	}
}

func TestPoissonArrivalsFollowTheSeed(t *testing.T) {
	const rate, window = 400e6, 300 * ms
	process := pace.NewPoisson(pace.Ramp{From: rate, To: rate, Length: window}, 2, 0, 4, 1)
	for _, warmUp := range []time.Duration{0, 100 * ms} {
		arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
			o := d.oracle(t, nil)
			step := StepShare{Index: 4, Share: pace.Share{First: 1, Stride: 2}, WarmUp: warmUp, Load: Arrivals{Rate: rate, Duration: window, Poisson: true}}
			start := time.Now().Add(time.Second)
			got := finish(t, d.runner(t, setup{url: o.URL, worker: 1}).Start(step, start))
			n := process.Before(window)
			wantUnsent(t, got, window, 0, map[string]int64{"success": n})
			for i, a := range o.arrivals()[int64(len(o.arrivals()))-n:] {
				// A driver waits for 0.1 ms at least.
				if late := a.at.Sub(start.Add(warmUp + process.Due(int64(i)))); late < 0 || late > minSleep {
					t.Errorf("arrival %d came %v late", i, late)
				}
			}
		})
	}
}

// oneRequest is a mix of one request.
func oneRequest(t *testing.T) *source.Source {
	t.Helper()
	src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
	must.Succeed(t, err)
	return src
}
