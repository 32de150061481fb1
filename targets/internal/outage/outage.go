package outage

import (
	"context"
	"sync"
	"time"
)

// Gate is the state of one service, shared by all of its callers.
type Gate struct {
	bound time.Duration
	after func(time.Duration) <-chan time.Time

	mu sync.Mutex
	// down is closed while the service does not answer.
	down   chan struct{}
	isDown bool
}

// New returns the gate of a service that is up. A bound of 0 or less means that
// no caller waits. After is time.After, or a test's.
func New(bound time.Duration, after func(time.Duration) <-chan time.Time) *Gate {
	return &Gate{bound: bound, after: after, down: make(chan struct{})}
}

// Wait waits for the answer, and reports whether it came. It returns early when
// ctx ends, when the service is marked as down, or when the bound has passed,
// which marks the service as down.
func (g *Gate) Wait(ctx context.Context, answer <-chan struct{}) (answered bool) {
	down, isDown := g.state()
	if isDown || g.bound <= 0 {
		return false
	}
	select {
	case <-answer:
		return true
	case <-ctx.Done():
	case <-down:
	case <-g.after(g.bound):
		// Of two cases that are ready select takes either. After a process was
		// stopped for longer than the bound, an answer is no sign of an outage.
		select {
		case <-answer:
			return true
		default:
			g.Down()
		}
	}
	return false
}

func (g *Gate) state() (down <-chan struct{}, isDown bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down, g.isDown
}

// Down marks the service as not answering, which ends all waits. It reports
// whether the state changed.
func (g *Gate) Down() (changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isDown {
		return false
	}
	g.isDown = true
	close(g.down)
	return true
}

// Up marks the service as answering. It reports whether the state changed.
func (g *Gate) Up() (changed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isDown {
		return false
	}
	g.isDown = false
	g.down = make(chan struct{})
	return true
}
