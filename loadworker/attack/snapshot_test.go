package attack

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestHealthIsFromTheWindowToTheEndOfTheStep(t *testing.T) {
	var w healthWindow
	p := health.NewProbe()
	if got := w.measure(p); got != (measure.Health{}) {
		t.Errorf("before the window: %+v, want nothing", got)
	}
	w.begin(p)
	for w.measure(p).CPU == 0 {
		_ = make([]byte, 1<<10) // work
	}
	w.end(p)
	last := w.measure(p)
	for used := p.Sample(); p.Sample().Since(used).CPU == 0; {
		_ = make([]byte, 1<<10) // work after the end
	}
	if got := w.measure(p); got != last || last.CPU == 0 {
		t.Errorf("after the end it grew from %+v to %+v", last, got)
	}
}

func TestStepCountsProcessorTime(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		got := drive(t, r, usersStep(4, ClosedUsers{Duration: 300 * time.Millisecond}))
		if got.Health.CPU <= 0 || got.Health.CPU > time.Hour {
			t.Errorf("processor time %v of a step that was busy for 300ms", got.Health.CPU)
		}
	})
}

// Attempts to connect that this side could not make are counted as its own
// fault, in the step in which they were.
func TestExhaustedDescriptorsAndPortsAreCounted(t *testing.T) {
	tests := map[string]struct {
		err                error
		descriptors, ports int64
	}{
		"descriptors":       {syscall.EMFILE, 3, 0},
		"of the machine":    {syscall.ENFILE, 3, 0},
		"ports":             {syscall.EADDRNOTAVAIL, 0, 3},
		"the target's part": {syscall.ECONNREFUSED, 0, 0},
	}
	forEachDriver(t, func(t *testing.T, d testDriver) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				r := d.runner(t, setup{url: "http://x", lookup: func(context.Context, string) ([]netip.Addr, error) {
					return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", tt.err)}
				}})
				for range 2 {
					got := drive(t, r, usersStep(1, Burst{Requests: 3, Limit: time.Minute})).Health
					d, p := got.DescriptorsExhausted, got.PortsExhausted
					if d < tt.descriptors || p < tt.ports || tt.descriptors == 0 && d > 0 || tt.ports == 0 && p > 0 {
						t.Errorf("%d descriptors and %d ports, want %d and %d of 3 requests", d, p, tt.descriptors, tt.ports)
					}
					if d > 5 || p > 5 {
						t.Errorf("%d and %d: those of the step before are among them", d, p)
					}
				}
			})
		}
	})
}

func TestSnapshotsAreConsistentWhileTheStepRuns(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{get("/a"), get("/b")}})
		x := r.Start(usersStep(20, ClosedUsers{Duration: 300 * time.Millisecond}), time.Now())
		last := int64(0)
		for running := true; running; {
			running = !x.Ended()
			q := total(t, snapshot(t, x))
			if q.Sent < last {
				t.Fatalf("sent fell from %d to %d", last, q.Sent)
			}
			last = q.Sent
		}
		if served := int64(len(o.served())); last != served {
			t.Errorf("sent %d, the server served %d", last, served)
		}
	})
}

func TestSnapshotIsACopy(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(2, Burst{Requests: 2, Limit: time.Minute}), time.Now())
		first := finish(t, x)
		first.Requests[0].Sent = 1000
		first.Requests[0].Response.Record(time.Second)
		if again := snapshot(t, x); again.Requests[0].Sent != 4 || again.Requests[0].Response.Count() != 4 {
			t.Errorf("a changed snapshot changed the next: %+v", again.Requests[0])
		}
	})
}
