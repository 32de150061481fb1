package socket

import (
	"sync"
	"time"
)

// Limit calls a function once, at an instant that moves. As WithDeadline, it calls it a little later if
// the process stood still at that instant: what would have moved it may have come long ago.
type Limit struct {
	passed func()

	mu     sync.Mutex
	timer  *time.Timer // nil: it is not set
	set    time.Time   // when the timer expires
	at     time.Time   // not before the timer expires: later instants are set when it does
	goesOn bool        // beyond the instant
	over   bool        // the function was called, or is not to be
	has    bool        // it was called
}

// NewLimit returns a limit without an instant.
func NewLimit(passed func()) *Limit { return &Limit{passed: passed} }

// Move sets the instant.
func (l *Limit) Move(to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.goesOn = to, false
	switch {
	case l.over:
	case l.timer == nil:
		l.set = to
		l.timer = time.AfterFunc(time.Until(to), func() { l.expire(time.Now()) })
	case to.Before(l.set):
		l.setTimer(to)
	}
}

func (l *Limit) setTimer(at time.Time) {
	l.set = at
	l.timer.Reset(time.Until(at))
}

// Stop ends the limit, and reports whether it has passed.
func (l *Limit) Stop() (passed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
	}
	return l.has
}

func (l *Limit) expire(now time.Time) {
	if l.ends(now) {
		l.passed()
	}
}

// ends ends the limit if it has passed, or sets the timer again.
func (l *Limit) ends(now time.Time) (passed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return false
	case now.Before(l.at):
		l.setTimer(l.at)
		return false
	case !l.goesOn && now.Sub(l.set) >= stoodStill:
		l.goesOn = true
		l.setTimer(now.Add(goOnFor))
		return false
	}
	l.over, l.has = true, true
	return true
}
