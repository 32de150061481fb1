package attack

import (
	"context"
	"crypto/tls"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
)

// testDriver is the driver of a test's runners. A test cannot make a runner without
// one. It gets one from forEachDriver, or says why it is for one driver only.
type testDriver struct {
	engine  string // as results name it
	over    string // the client, as results name it
	client  func(*dial.Dialer) transport.Client
	secured bool // TLS is put in front of the test's server
	// network is that of a bubble, and these are the sides of its TLS; nil: the machine's.
	network              *virtual.Network
	clientTLS, serverTLS *tls.Config
}

func (d testDriver) http2() bool { return d.over == "http2" }

// loopTestDriver is event loops, goroutineTestDriver a goroutine for each
// connection of users, and vegeta's Attacker for arrivals. vegetaTestDriver is vegeta
// from end to end, for arrivals only.
var (
	loopTestDriver      = testDriver{engine: "event loops", over: "http1", client: func(d *dial.Dialer) transport.Client { return http1.NewClient(d, "test") }}
	goroutineTestDriver = testDriver{engine: "goroutines", over: "http1", client: func(d *dial.Dialer) transport.Client { return portable{http1.NewClient(d, "test")} }}
	vegetaTestDriver    = testDriver{engine: "vegeta", over: "net/http HTTP/1.1", client: func(d *dial.Dialer) transport.Client { return nethttp.NewPool(d, "test", true) }}
)

// streamTestDriver and streamGoroutineTestDriver are the first two over HTTP/2.
var (
	streamTestDriver          = testDriver{engine: "event loops", over: "http2", client: func(d *dial.Dialer) transport.Client { return http2.NewClient(d, "test", http2.Shared{}) }}
	streamGoroutineTestDriver = testDriver{engine: "goroutines", over: "http2", client: func(d *dial.Dialer) transport.Client { return portable{http2.NewClient(d, "test", http2.Shared{})} }}
)

// portable is a client whose connections no event loop can take.
type portable struct{ transport.Client }

// forEachDriver runs a test over each driver of this system.
func forEachDriver(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	for _, d := range testDrivers() {
		t.Run(d.name(), func(t *testing.T) { test(t, d) })
	}
}

func testDrivers() []testDriver {
	drivers := []testDriver{goroutineTestDriver, streamGoroutineTestDriver}
	if runtime.GOOS == "linux" {
		overTLS, streamsOverTLS := loopTestDriver, streamTestDriver
		overTLS.secured, streamsOverTLS.secured = true, true
		drivers = append(drivers, loopTestDriver, overTLS, streamTestDriver, streamsOverTLS)
	}
	return drivers
}

func (d testDriver) name() string {
	if d.secured {
		return d.engine + ", " + d.over + " over TLS"
	}
	return d.engine + ", " + d.over
}

// forEachDriverOfHTTP1 is for a test whose server speaks HTTP/1.1 by hand.
func forEachDriverOfHTTP1(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	for _, d := range slices.DeleteFunc(testDrivers(), testDriver.http2) {
		t.Run(d.name(), func(t *testing.T) { test(t, d) })
	}
}

// forEachDriverOverTLS is for a test of TLS.
func forEachDriverOverTLS(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	for _, d := range []testDriver{goroutineTestDriver, streamGoroutineTestDriver, loopTestDriver, streamTestDriver} {
		if d.engine == "event loops" && runtime.GOOS != "linux" {
			continue
		}
		d.secured = true
		t.Run(d.name(), func(t *testing.T) { test(t, d) })
	}
}

// forEachArrivalsDriver runs a test of arrivals over each driver of this system.
func forEachArrivalsDriver(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	forEachDriver(t, test)
	t.Run(vegetaTestDriver.name(), func(t *testing.T) { test(t, vegetaTestDriver) })
}

// onlyEventLoops is for a test that has no meaning over goroutines, for a reason.
func onlyEventLoops(t *testing.T, why string) testDriver {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are no event loops, and over goroutines " + why)
	}
	return loopTestDriver
}

// A Prepare that comes after its end, as a step has begun meanwhile, leaves the step's
// connections alone: it would read them while they are used, which the race detector sees.
func TestPrepareAfterItsEndTouchesNoConnection(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		step := usersStep(8, ClosedUsers{Duration: await.Patience})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		x := r.Start(step, time.Now())
		for !x.Ended() {
			r.Prepare(ended, step)
			if total(t, snapshot(t, x)).Outcomes[measure.Success] >= 100 {
				x.Cut()
			}
		}
	})
}

// The end of a step closes connections whose requests it interrupts. They are open again before the next step begins.
func TestPrepareOpensWhatTheEndOfAStepClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		handle, _ := hold(t)
		r := d.runner(t, setup{url: d.oracle(t, handle).URL})
		got := drive(t, r, usersStep(3, Burst{Requests: 1, Limit: time.Second}))
		if n := total(t, got).Outcomes[measure.Unfinished]; n != 3 {
			t.Errorf("%d requests are unfinished, want 3", n)
		}
		r.Prepare(t.Context(), usersStep(3, ClosedUsers{Duration: time.Second}))
		for i, c := range r.conns {
			if !c.IsOpen() {
				t.Errorf("the %d. connection is not open", i+1)
			}
		}
	})
}

// vegeta's dispatcher asks for one hit after the other. A step that is cut between two of them does not wait for the next.
func TestACutBetweenTwoHitsEndsTheStep(t *testing.T) {
	goroutineTestDriver.virtually(t, func(t *testing.T, d testDriver) {
		r := d.runner(t, setup{url: d.oracle(t, nil).URL})
		x := r.newExecution(arrivalsStep(1e6, time.Hour), time.Now())
		v := x.onGoroutines()[0].driver.(vegetaDriver)
		defer v.timer.Close()
		defer context.AfterFunc(x.ctx, v.stopWaiting)()
		v.Pace(0, 0)
		if _, err := v.exchange(<-v.ready); err != nil {
			t.Fatal(err)
		}
		x.Cut()
		synctest.Wait()
		began := time.Now()
		if _, stop := v.Pace(0, 1); !stop || time.Since(began) > 0 {
			t.Errorf("ended: %v, after %v; want it at once", stop, time.Since(began))
		}
	})
}

func TestUsersTakeNoGoroutine(t *testing.T) {
	d := onlyEventLoops(t, "each connection of a user has one")
	const users = 200
	for name, tt := range map[string]struct {
		load Load
		hold bool
		most int
	}{
		// The server has another goroutine for each request whose context it watches.
		"in flight": {Burst{Requests: 1, Limit: time.Minute}, true, users + users/2},
		"who think": {Burst{Requests: 2, Limit: time.Hour, Think: pace.Think{Shortest: time.Minute, Longest: time.Hour}}, false, users / 4},
	} {
		t.Run(name, func(t *testing.T) {
			handle, release := hold(t)
			if !tt.hold {
				release()
			}
			o := newOracle(t, handle)
			r, step := d.runner(t, setup{url: o.URL}), usersStep(users, tt.load)
			r.Prepare(t.Context(), step)
			o.accepts(t, users)
			before := runtime.NumGoroutine() // with those of the server
			x := r.Start(step, time.Now())
			until(t, x, func(s *measure.Measurement) bool {
				return len(o.arrivals()) == users && (tt.hold || s.Requests[0].Outcomes[measure.Success] == users)
			})
			if n := runtime.NumGoroutine() - before; n >= tt.most {
				t.Errorf("%d goroutines more for %d users, want fewer than %d", n, users, tt.most)
			}
			release()
			if !tt.hold {
				x.Cut()
			}
			if q := total(t, finish(t, x)); q.Sent != users {
				t.Errorf("sent %d, want %d", q.Sent, users)
			}
		})
	}
}

func TestResultNamesTheEngine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		for _, load := range []Load{Burst{Requests: 1, Limit: time.Minute}, Arrivals{Rate: 100e6, Duration: 50 * ms}} {
			if got := drive(t, d.runner(t, setup{url: d.oracle(t, nil).URL}), usersStep(2, load)); got.Engine != d.engine {
				t.Errorf("engine %q, want %q", got.Engine, d.engine)
			}
		}
	})
}
