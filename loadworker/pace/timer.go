package pace

import "time"

// Timer ends a wait. Set may be called by all goroutines, Wait by one at a time.
type Timer interface {
	// Set lets Wait return after d, and no more when an earlier Set said.
	Set(d time.Duration)
	// Wait returns once the time that was set has passed. It may be early.
	Wait()
	// Close frees the timer, which must not be used after that.
	Close()
}

// portableTimer is up to a millisecond late.
type portableTimer struct{ timer *time.Timer }

var _ Timer = portableTimer{}

func newPortableTimer() portableTimer {
	return portableTimer{timer: time.NewTimer(0)}
}

func (t portableTimer) Set(d time.Duration) { t.timer.Reset(d) }

func (t portableTimer) Wait() { <-t.timer.C }

func (t portableTimer) Close() { t.timer.Stop() }
