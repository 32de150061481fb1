package attack

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestVitalsBeginWithTheWindowAndEndWithTheStep(t *testing.T) {
	var v vitals
	p := health.NewProbe()
	if got := v.measure(p); got != (measure.Health{}) {
		t.Errorf("before the window: %+v, want nothing", got)
	}
	v.begin(p)
	for deadline := time.Now().Add(patience); v.measure(p).CPU == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no processor time is used")
		}
	}
	v.end(p)
	last := v.measure(p)
	for used := p.Sample(); p.Sample().Since(used).CPU == 0; {
		_ = make([]byte, 1<<10) // work after the end
	}
	if got := v.measure(p); got != last || last.CPU == 0 {
		t.Errorf("after the end it grew from %+v to %+v", last, got)
	}
}

func TestStepsSayWhatTheyUsed(t *testing.T) {
	o := newOracle(t, nil)
	r := newTestRunner(t, setup{url: o.URL})
	got := drive(t, r, usersStep(4, ClosedUsers{Duration: 300 * time.Millisecond}))
	if got.Health.CPU <= 0 || got.Health.CPU > time.Hour {
		t.Errorf("processor time %v of a step that was busy for 300ms", got.Health.CPU)
	}
}

// Attempts to connect that this side could not make are counted as its own
// fault, in the step in which they were.
func TestExhaustion(t *testing.T) {
	tests := map[string]struct {
		err                error
		descriptors, ports int64
	}{
		"descriptors":       {syscall.EMFILE, 3, 0},
		"of the machine":    {syscall.ENFILE, 3, 0},
		"ports":             {syscall.EADDRNOTAVAIL, 0, 3},
		"the target's part": {syscall.ECONNREFUSED, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
			if err != nil {
				t.Fatal(err)
			}
			dialer, err := dial.NewDialer(dial.Config{
				URL: "http://x", Policy: dial.AddressPolicy{AllowSpecial: true},
				Lookup: func(context.Context, string) ([]netip.Addr, error) {
					return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", tt.err)}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewRunner(Config{Source: src, Client: http1.NewClient(dialer, ""), Timeout: time.Second, MaxConnections: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Close)
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
}
