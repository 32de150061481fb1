package attack

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// The first request of each connection is not reused, in whichever step it is.
func TestReusedConnectionsAreCounted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		step := usersStep(3, Burst{Requests: 4, Limit: time.Minute})
		for i, want := range []int64{9, 12} {
			if got := drive(t, r, step); got.Reused != want {
				t.Errorf("step %d: %d of 12 requests reused a connection, want %d", i, got.Reused, want)
			}
		}
		r = d.runner(t, setup{url: o.URL, maxConns: 1})
		for i, first := range []int64{1, 0} {
			got := drive(t, r, arrivalsStep(20e6, time.Second))
			if sent := total(t, got).Sent; sent == 0 || got.Reused != sent-first {
				t.Errorf("arrivals %d: %d of %d requests reused the connection, want all but %d", i, got.Reused, sent, first)
			}
		}
	})
}

func TestArrivalsReopenConnectionsThatTheServerCloses(t *testing.T) {
	forEachDriverOfHTTP1(t, func(t *testing.T, d testDriver) {
		const last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
		r := d.runner(t, setup{url: raw(t, last, closeGently)})
		got := drive(t, r, arrivalsStep(20e6, time.Second))
		sent := total(t, got).Sent
		if diff := cmp.Diff(map[string]int64{"success": sent}, outcomes(total(t, got))); diff != "" || sent == 0 {
			t.Errorf("sent %d, outcomes (-want +got):\n%s", sent, diff)
		}
		if got.Reused != 0 || got.ConnectionsOpened < sent {
			t.Errorf("%d reused, %d opened; want none, and one for each of %d", got.Reused, got.ConnectionsOpened, sent)
		}
	})
}

func TestArrivalsAtAClosedPortAreRefused(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		r := d.runner(t, setup{url: nowhere})
		got := drive(t, r, arrivalsStep(20e6, time.Second))
		sent := total(t, got).Sent
		if diff := cmp.Diff(map[string]int64{"refused": sent}, outcomes(total(t, got))); diff != "" || sent == 0 {
			t.Errorf("sent %d, outcomes (-want +got):\n%s", sent, diff)
		}
		if got.Due != 20 || got.Unsent != 20-sent || got.Reused != 0 {
			t.Errorf("due %d, unsent %d, reused %d; want 20, %d, 0", got.Due, got.Unsent, got.Reused, 20-sent)
		}
	})
}

// However many processors there are, each hit and each turn is sent once, and
// arrivals have no more connections than they may.
func TestRequestsAreSentOnceOnAnyNumberOfProcessors(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		steps := map[string]StepShare{
			"arrivals": arrivalsStep(60e6, time.Second),
			"users":    usersStep(5, PacedUsers{Rate: pace.Rate(60e6), Duration: time.Second}),
		}
		for name, step := range steps {
			for _, processors := range []int{1, 3} {
				t.Run(name, func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
					o := newOracle(t, nil)
					r := d.runner(t, setup{url: o.URL, maxConns: 5})
					got := drive(t, r, step)
					isSchedule(t, got, o, 60)
					if got.ConnectionsOpened > 5 {
						t.Errorf("%d connections opened, want at most 5", got.ConnectionsOpened)
					}
				})
			}
		}
	})
}
