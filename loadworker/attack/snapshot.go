package attack

import (
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Clients are the ledgers of the audit, for the end of the step: they are too large to
// be sent each second. It is nil if there is no audit.
func (x *Execution) Clients() *measure.Clients {
	if x.rec.clients == nil {
		return nil
	}
	return x.rec.clients.all()
}

// Snapshot is the measurement so far, without the ledgers and the times that only the
// session has: start and clock error.
func (x *Execution) Snapshot() (*measure.Measurement, error) {
	ended, before := x.Ended(), x.elapsed()
	s, err := x.rec.collect()
	if err != nil {
		return nil, err
	}
	sent := int64(0)
	for i := range s.Requests {
		sent += s.Requests[i].Sent
	}
	after := x.elapsed()
	now := max(0, min(after, x.windowEnd()))
	if whole := ended && !x.cut.Load(); x.source.Journeys() > 0 {
		x.fillDueOfWalks(s, min(after+1, x.windowEnd()), ended, whole)
	} else {
		x.fillDue(s, before, after, whole)
	}
	s.Unsent = s.Due - sent
	s.UnsentWithoutRoom = min(s.Unsent, x.withoutRoom(min(after+1, x.windowEnd())))
	if a := x.arrivals(); a != nil && a.log != nil {
		s.Replay = a.log.lines()
	}
	s.Window = x.window(now, ended)
	x.fillIdeal(s, ended)
	x.fillHealth(s)
	s.Transport = x.runner.client.Name()
	if engine := x.engine.Load(); engine != nil {
		s.Engine = *engine
	}
	return s, nil
}

// Ended says whether nothing is sent or in flight any more.
func (x *Execution) Ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// window is the time over which rates are counted.
func (x *Execution) window(now time.Duration, ended bool) time.Duration {
	if !ended {
		return now
	}
	if _, ok := x.step.Load.(Burst); ok && !x.stopped.Load() {
		return x.rec.last.load()
	}
	return x.windowEnd()
}

// healthWindow is the worker's health from the beginning of a window to the end
// of the step: the warm-up is no part of it, the drain is.
type healthWindow struct {
	stalls health.Stalls // watched as long as the step runs

	mu          sync.Mutex
	first, last *health.Sample
	// before and during are for how long the worker stood still before the window, and
	// in it, once it has ended.
	before, during time.Duration
}

func (w *healthWindow) begin(p health.Probe) {
	s := p.Sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first, w.before = &s, w.stalls.Total()
}

func (w *healthWindow) end(p health.Probe) {
	s := p.Sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.during = &s, w.stalls.Total()-w.before
}

// measure is the health so far; nothing is known before the window.
func (w *healthWindow) measure(p health.Probe) measure.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, stalled := w.last, w.during
	switch {
	case w.first == nil:
		return measure.Health{}
	case last == nil:
		now := p.Sample()
		last, stalled = &now, w.stalls.Total()-w.before
	}
	h := last.Since(*w.first)
	h.Stalled, h.StalledMax = stalled, stalled
	return h
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
	if before := x.opened.Load(); before >= 0 {
		s.OpenedInWindow = now.opened - before
	}
	if !x.Ended() {
		x.shaken.take(x.runner.client)
	}
	s.Handshakes, s.ResumedHandshakes = x.shaken.all()
	s.Health = x.health.measure(x.runner.probe)
	s.Health.DescriptorsExhausted = now.descriptors - x.dialed.descriptors
	s.Health.PortsExhausted = now.ports - x.dialed.ports
}

// beginWindow notes what was before the window.
func (x *Execution) beginWindow() {
	x.opened.Store(x.runner.client.Opened())
	x.health.begin(x.runner.probe)
}

// handshakes are the times of those of a step.
type handshakes struct {
	mu      sync.Mutex
	times   *measure.Histogram // nil: there was none
	resumed int64
}

// take takes those that the client has made since they were taken last.
func (h *handshakes) take(c transport.Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	more, resumed := c.Handshakes()
	h.resumed += resumed
	switch {
	case h.times == nil:
		h.times = more
	case more != nil:
		_ = h.times.Merge(more) // the bounds are the same
	}
}

// all is a copy of them, and how many resumed a session.
func (h *handshakes) all() (times *measure.Histogram, resumed int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.times == nil {
		return nil, 0
	}
	return h.times.Clone(), h.resumed
}
