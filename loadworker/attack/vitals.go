package attack

import (
	"sync"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// vitals is how the worker fares from the beginning of a window to the end of
// the step: the warm-up is no part of it, the drain is.
type vitals struct {
	mu          sync.Mutex
	first, last *health.Sample
}

func (v *vitals) begin(p health.Probe) {
	s := p.Sample()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.first = &s
}

func (v *vitals) end(p health.Probe) {
	s := p.Sample()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = &s
}

// measure is how it fared so far; nothing is known before the window.
func (v *vitals) measure(p health.Probe) measure.Health {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.first == nil:
		return measure.Health{}
	case v.last != nil:
		return v.last.Since(*v.first)
	default:
		return p.Sample().Since(*v.first)
	}
}

// dialed counts attempts to connect.
type dialed struct {
	opened, descriptors, ports int64
}

// dials is what the client counted so far.
func (r *Runner) dials() dialed {
	d := dialed{opened: r.client.Opened()}
	d.descriptors, d.ports = r.client.Exhausted()
	return d
}

// examine says how the worker fared and what it opened in the step, the
// connections that it opened beforehand for it included.
func (x *Execution) examine(s *measure.Step) {
	now := x.runner.dials()
	s.ConnectionsOpened = now.opened - x.dialed.opened
	s.Health = x.health.measure(x.runner.probe)
	s.Health.DescriptorsExhausted = now.descriptors - x.dialed.descriptors
	s.Health.PortsExhausted = now.ports - x.dialed.ports
}
