package patience

import (
	"context"
	"sync"
	"time"
)

// Patience is the patience of all callers of one service.
type Patience struct {
	bound time.Duration
	after func(time.Duration) <-chan time.Time

	mu sync.Mutex
	// lost is closed while the service does not answer.
	lost   chan struct{}
	isLost bool
}

// New returns patience that ends after bound; no bound is no patience at all.
// After is time.After, or a test's.
func New(bound time.Duration, after func(time.Duration) <-chan time.Time) *Patience {
	return &Patience{bound: bound, after: after, lost: make(chan struct{})}
}

// Wait returns when the answer is there, and reports so, when ctx ends, or when
// waiting longer has no point.
func (p *Patience) Wait(ctx context.Context, answer <-chan struct{}) (answered bool) {
	lost, isLost := p.state()
	if isLost || p.bound <= 0 {
		return false
	}
	select {
	case <-answer:
		return true
	case <-ctx.Done():
	case <-lost:
	case <-p.after(p.bound):
		// Of two that are ready select takes either. After a process was stopped
		// for longer than the bound, an answer is no sign of an outage.
		select {
		case <-answer:
			return true
		default:
			p.Lose()
		}
	}
	return false
}

func (p *Patience) state() (lost <-chan struct{}, isLost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost, p.isLost
}

// Lose says that the service does not answer. Those who wait wait no longer. It
// reports whether that is news.
func (p *Patience) Lose() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isLost {
		return false
	}
	p.isLost = true
	close(p.lost)
	return true
}

// Regain says that the service answers. It reports whether that is news.
func (p *Patience) Regain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isLost {
		return false
	}
	p.isLost = false
	p.lost = make(chan struct{})
	return true
}
