package attack

import (
	"sync"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// healthWindow is the worker's health from the beginning of a window to the end
// of the step: the warm-up is no part of it, the drain is.
type healthWindow struct {
	mu          sync.Mutex
	first, last *health.Sample
}

func (w *healthWindow) begin(p health.Probe) {
	s := p.Sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first = &s
}

func (w *healthWindow) end(p health.Probe) {
	s := p.Sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = &s
}

// measure is the health so far; nothing is known before the window.
func (w *healthWindow) measure(p health.Probe) measure.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.first == nil:
		return measure.Health{}
	case w.last != nil:
		return w.last.Since(*w.first)
	default:
		return p.Sample().Since(*w.first)
	}
}

// dialCounts counts attempts to connect.
type dialCounts struct {
	opened, descriptors, ports int64
}

// dials is what the client counted so far.
func (r *Runner) dials() dialCounts {
	d := dialCounts{opened: r.client.Opened()}
	d.descriptors, d.ports = r.client.Exhausted()
	return d
}

// fillHealth fills in the worker's health and the connections that it opened in the
// step, those that it opened beforehand included.
func (x *Execution) fillHealth(s *measure.Measurement) {
	now := x.runner.dials()
	s.ConnectionsOpened = now.opened - x.dialed.opened
	s.Health = x.health.measure(x.runner.probe)
	s.Health.DescriptorsExhausted = now.descriptors - x.dialed.descriptors
	s.Health.PortsExhausted = now.ports - x.dialed.ports
}
