package health

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// stallTick is how often it is noted that this process runs.
	stallTick = 20 * time.Millisecond
	// leastStall is the shortest gap that counts: a goroutine on a busy machine is often
	// late by less.
	leastStall = 100 * time.Millisecond
)

// Stalls adds up for how long this process did not run at all: because it was stopped,
// its control group frozen, or its node too busy. It neither sends nor reads then, and
// no other figure shows what it did not send. The zero value is ready to be watched.
type Stalls struct {
	began       time.Time
	last, total atomic.Int64 // since began
}

// Watch counts until the context ends.
func (s *Stalls) Watch(ctx context.Context) {
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
}

// note notes that the process runs.
func (s *Stalls) note(now time.Duration) {
	s.total.Add(int64(gap(now, time.Duration(s.last.Load()))))
	s.last.Store(int64(now))
}

// Total is for how long it has stood still so far, the gap that is not noted yet
// included.
func (s *Stalls) Total() time.Duration {
	return s.Until(time.Now())
}

// Until is for how long it had stood still at an instant that has just been read.
func (s *Stalls) Until(now time.Time) time.Duration {
	if s.began.IsZero() {
		return 0
	}
	return s.at(now.Sub(s.began))
}

func (s *Stalls) at(now time.Duration) time.Duration {
	return time.Duration(s.total.Load()) + gap(now, time.Duration(s.last.Load()))
}

// gap is how long a process stood still that ran at two instants, and at none between.
func gap(now, last time.Duration) time.Duration {
	if d := now - last - stallTick; d >= leastStall {
		return d
	}
	return 0
}
