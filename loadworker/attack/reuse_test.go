package attack

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
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
			if got := sendAll(t, r, 400e6, 20); got.Reused != 20-first {
				t.Errorf("arrivals %d: %d of 20 requests reused the connection, want all but %d", i, got.Reused, first)
			}
		}
	})
}

func TestArrivalsReopenConnectionsThatTheServerCloses(t *testing.T) {
	forEachDriverOfHTTP1(t, func(t *testing.T, d testDriver) {
		const last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
		r := d.runner(t, setup{url: raw(t, last, closeGently)})
		got := sendAll(t, r, 400e6, 20)
		same.As(t, "outcomes", map[string]int64{"success": 20}, outcomes(total(t, got)))
		if got.Reused != 0 || got.ConnectionsOpened < 20 {
			t.Errorf("%d reused, %d opened; want none, and one for each of 20", got.Reused, got.ConnectionsOpened)
		}
	})
}

func TestArrivalsAtAClosedPortAreRefused(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		r := d.runner(t, setup{url: nowhere})
		got := sendAll(t, r, 400e6, 20)
		same.As(t, "outcomes", map[string]int64{"refused": 20}, outcomes(total(t, got)))
		if got.Due != 20 || got.Unsent != 0 || got.Reused != 0 {
			t.Errorf("due %d, unsent %d, reused %d; want 20, 0, 0", got.Due, got.Unsent, got.Reused)
		}
	})
}

// However many processors there are, each hit and each turn is sent once, and
// arrivals have no more connections than they may.
func TestRequestsAreSentOnceOnAnyNumberOfProcessors(t *testing.T) {
	for _, processors := range []int{1, 3} {
		for name, step := range map[string]StepShare{
			"arrivals": arrivalsStep(60e6, time.Second),
			"users":    usersStep(5, PacedUsers{Rate: 20e6, Duration: 3 * time.Second}),
		} {
			t.Run(fmt.Sprint(name, " on ", processors), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				inVirtualTime(t, func(t *testing.T, d testDriver) {
					o := d.oracle(t, nil)
					got := drive(t, d.runner(t, setup{url: o.URL, maxConns: 5}), step)
					isSchedule(t, got, o, 60)
					if got.ConnectionsOpened > 5 {
						t.Errorf("%d connections opened, want at most 5", got.ConnectionsOpened)
					}
				})
			})
		}
	}
}
