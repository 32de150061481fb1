package attack

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestSharesOfArrivalsAreTogetherTheSchedule(t *testing.T) {
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		t.Parallel()
		// All are due two seconds before the end: a busy machine sends them, too.
		rate, length := pace.Rate(37_500_000), 6*time.Second
		merged := measure.NewMeasurement(1)
		start := time.Now().Add(100 * time.Millisecond)
		var runs []*Execution
		for w := range int64(3) {
			r := d.runner(t, setup{url: o.URL})
			step := StepShare{Share: pace.Share{First: w, Stride: 3, Count: 50}, Total: 150, Load: Arrivals{Rate: rate, Duration: length}}
			runs = append(runs, r.Start(step, start))
		}
		for _, x := range runs {
			if err := merged.Merge(finish(t, x)); err != nil {
				t.Fatal(err)
			}
		}
		isSchedule(t, merged, o, 150)
		if merged.Window != length {
			t.Errorf("window %v, want %v", merged.Window, length)
		}
	})
}

// The target holds the few connections that there may be: all other hits are
// counted as unsent.
func TestArrivalsBeyondTheConnectionsAreUnsent(t *testing.T) {
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		handle, _ := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL, maxConns: 2})
		x := r.Start(arrivalsStep(10e6, 3*time.Second), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Due == 30 && len(o.served()) == 2 })
		x.Cut()
		got := finish(t, x)
		if diff := cmp.Diff(map[string]int64{"unfinished": 2}, outcomes(total(t, got))); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if got.Due != 30 || got.Unsent != 28 || len(o.served()) != 2 {
			t.Errorf("due %d, unsent %d, served %d; want 30, 28, 2", got.Due, got.Unsent, len(o.served()))
		}
	})
}

// While the target holds every response, arrivals go on arriving.
func TestArrivalsDoNotWaitForResponses(t *testing.T) {
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, release := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(arrivalsStep(50e6, 4*time.Second), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Unfinished] >= 20 })
		release()
		got := finish(t, x)
		if q := total(t, got); q.Outcomes[measure.Success] != q.Sent {
			t.Errorf("outcomes %v, want successes only", outcomes(q))
		}
		if shared := d.http2() && d.engine == streamTestDriver.engine; shared && got.ConnectionsOpened != 1 || !shared && got.ConnectionsOpened < 20 {
			t.Errorf("%d connections opened, want one for each of 20 in flight, or one that they share", got.ConnectionsOpened)
		}
		o.accepts(t, int(got.ConnectionsOpened))
	})
}

func TestArrivalsReuseConnections(t *testing.T) {
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		step := arrivalsStep(20e6, time.Second)
		first := drive(t, r, step).ConnectionsOpened
		second := drive(t, r, step).ConnectionsOpened
		if n := int(first + second); n > 20 || first < 1 {
			t.Errorf("%d and %d connections opened for 20 hits each; want that they are used again", first, second)
		}
		o.accepts(t, int(first+second))
	})
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	tests := map[string]struct {
		rate        pace.Rate
		timeout     time.Duration
		connections int
		want        int
	}{
		"few at a low rate":              {rate: 1e6, timeout: time.Second, connections: 1000, want: 64},
		"rate x timeout by Little's law": {rate: 100e6, timeout: 3 * time.Second, connections: 1000, want: 300},
		"bounded by the connections":     {rate: 10000e6, timeout: 30 * time.Second, connections: 1000, want: 1000},
		"even below the few":             {rate: 1e6, timeout: time.Second, connections: 2, want: 2},
		"an absurd rate":                 {rate: 1 << 62, timeout: time.Hour, connections: 1000, want: 1000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			load, step := Arrivals{Rate: tt.rate, Duration: time.Second}, StepShare{Share: all(100), Total: 100}
			s := load.schedule(step, Config{Timeout: tt.timeout, MaxConnections: tt.connections})
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
	a := load.schedule(step, Config{Timeout: timeout, MaxConnections: 100_000}).(*arrivals)
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
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		got := drive(t, r, StepShare{Share: pace.Share{First: 5, Stride: 9}, Total: 5, Load: Arrivals{Rate: 50e6, Duration: 100 * time.Millisecond}})
		if got.Due != 0 || len(o.served()) != 0 || got.Window != 100*time.Millisecond {
			t.Errorf("due %d, served %d, window %v; want 0, 0, 100ms", got.Due, len(o.served()), got.Window)
		}
	})
}

// Vegeta's client follows redirects: the responses that it gets have no location.
// The last hit is due half a second before the end, so that a busy machine still
// sends it.
func TestArrivalsDoNotFollowRedirects(t *testing.T) {
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
		for _, code := range []int{301, 302, 307, 308} {
			t.Run(strconv.Itoa(code), func(t *testing.T) {
				t.Parallel()
				o := newOracle(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(code)
				})
				moved := get("/${seq}")
				moved.Expect.Status = []int32{int32(code)}
				r := d.runner(t, setup{url: o.URL, requests: []source.Request{moved}})
				isSchedule(t, drive(t, r, arrivalsStep(2e6, 2*time.Second)), o, 4)
			})
		}
	})
}
