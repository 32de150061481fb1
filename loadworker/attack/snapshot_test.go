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
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
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

// Beside what always holds of a snapshot, it has no trace of a request whose outcome it does not count: the
// operator would refuse it.
func TestSnapshotsAreConsistentWhileTheStepRuns(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{get("/a"), get("/b")}, traced: trace.Whole})
		x := r.Start(usersStep(20, ClosedUsers{Duration: 300 * time.Millisecond}), time.Now())
		last, worked := int64(0), time.Duration(0)
		for running := true; running; {
			running = !x.Ended()
			s := snapshot(t, x)
			q := total(t, s)
			if q.Sent < last {
				t.Fatalf("sent fell from %d to %d", last, q.Sent)
			}
			last, worked = q.Sent, s.Health.CPU
			tracesAreCounted(t, s)
		}
		if served := int64(len(o.served())); last != served {
			t.Errorf("sent %d, the server served %d", last, served)
		}
		if worked <= 0 || worked > time.Hour {
			t.Errorf("processor time %v of a step that was busy for 300ms", worked)
		}
	})
}

func tracesAreCounted(t *testing.T, s *measure.Measurement) {
	t.Helper()
	for i := range s.Requests {
		q := &s.Requests[i]
		var counts [measure.NumOutcomes]int64
		for _, kept := range q.Traces {
			counts[kept.Outcome]++
		}
		for o, n := range counts {
			if n > q.Outcomes[o] {
				t.Fatalf("%d traces of outcome %v, which has %d", n, measure.Outcome(o), q.Outcomes[o])
			}
		}
	}
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
