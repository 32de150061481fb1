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
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestHealthIsFromTheWindowToTheEndOfTheStep(t *testing.T) {
	var w healthWindow
	p := health.NewProbe()
	if got := w.measure(p); got != (measure.Health{}) {
		t.Errorf("before the window: %+v, want nothing", got)
	}
	w.begin(p)
	for deadline := time.Now().Add(patience); w.measure(p).CPU == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no processor time is used")
		}
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
