package patience

import (
	"context"
	"sync/atomic"
	"time"
)

// Patience is the patience of all callers of one service.
type Patience struct {
	bound time.Duration
	after func(time.Duration) <-chan time.Time
	lost  atomic.Bool
}

// New returns patience that ends after bound; no bound is no patience at all.
// After is time.After, or a test's.
func New(bound time.Duration, after func(time.Duration) <-chan time.Time) *Patience {
	return &Patience{bound: bound, after: after}
}

// Wait returns when the answer is there, when ctx ends, or when waiting longer
// has no point.
func (p *Patience) Wait(ctx context.Context, answer <-chan struct{}) {
	if p.bound <= 0 || p.lost.Load() {
		return
	}
	select {
	case <-answer:
	case <-ctx.Done():
	case <-p.after(p.bound):
		p.Lose()
	}
}

// Lose says that the service does not answer.
func (p *Patience) Lose() { p.lost.Store(true) }

// Regain says that the service answers.
func (p *Patience) Regain() {
	// Said with each answer; only the first after an outage changes anything.
	if p.lost.Load() {
		p.lost.Store(false)
	}
}
