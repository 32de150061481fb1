package timer

import "time"

// Timer ends a wait. All goroutines may call Set; one at a time may call Wait.
type Timer interface {
	// Set makes Wait return after d. It replaces the time of an earlier Set.
	Set(d time.Duration)
	// Wait returns when the time that was set has passed. It may be early.
	Wait()
	// Close frees the timer, which must not be used after that.
	Close()
}

// portableTimer is late by up to a millisecond.
type portableTimer struct{ timer *time.Timer }

var _ Timer = portableTimer{}

func newPortableTimer() portableTimer {
	return portableTimer{timer: time.NewTimer(0)}
}

func (t portableTimer) Set(d time.Duration) { t.timer.Reset(d) }

func (t portableTimer) Wait() { <-t.timer.C }

func (t portableTimer) Close() { t.timer.Stop() }
