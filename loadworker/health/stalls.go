package health

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// stallTick is how often it is noted that this process runs.
	stallTick = 20 * time.Millisecond
	// leastStall is the shortest gap that is reported: a goroutine on a busy machine is often
	// late by less.
	leastStall = 100 * time.Millisecond
	// leastPause is the shortest that may excuse a request: a process that is throttled to half
	// of each period of 100 ms has pauses of 50.
	leastPause = 30 * time.Millisecond
)

// Stalls adds up for how long this process did not run at all: because it was stopped,
// its control group frozen or throttled, or its node too busy. It neither sends nor reads then,
// and no other figure shows what it did not send. The zero value is ready to be watched.
type Stalls struct {
	began time.Time
	known atomic.Pointer[stalls] // nil: nothing yet
}

// stalls is what is known since a process was last noted to run.
type stalls struct {
	last time.Duration // when that was, since began
	// total is for how long it has stood still in long gaps, at least, and most in short ones,
	// too, at most.
	total, most time.Duration
}

// Watch counts from now, which it returns, until the context ends.
func (s *Stalls) Watch(ctx context.Context) time.Time {
	s.began = time.Now()
	ticker := time.NewTicker(stallTick)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				s.note(time.Since(s.began))
			}
		}
	}()
	return s.began
}

// note notes that the process runs.
func (s *Stalls) note(now time.Duration) {
	known := s.at(now)
	s.known.Store(&known)
}

// Total is for how long it has stood still so far, the gap that is not noted yet
// included.
func (s *Stalls) Total() time.Duration {
	if s.began.IsZero() {
		return 0
	}
	return s.at(time.Since(s.began)).total
}

// Until is for how long it had stood still at most, in short gaps, too, at an instant that has
// just been read, counted from when Watch began.
func (s *Stalls) Until(now time.Duration) time.Duration {
	if s.began.IsZero() {
		return 0
	}
	return s.at(now).most
}

// at is what is known of a process that runs now.
func (s *Stalls) at(now time.Duration) (known stalls) {
	if before := s.known.Load(); before != nil {
		known = *before
	}
	gap := now - known.last
	if gap-stallTick >= leastStall {
		known.total += gap - stallTick
	}
	if gap-stallTick >= leastPause {
		known.most += gap
	}
	known.last = now
	return known
}
