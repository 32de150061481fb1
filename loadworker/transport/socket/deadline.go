package socket

import (
	"context"
	"sync"
	"time"
)

const (
	// stoodStill is how late a timer is at least if the process did not run meanwhile: one that
	// runs is late by less, even if it is busy.
	stoodStill = 20 * time.Millisecond
	// goOnFor is the time for what had come by then.
	goOnFor = 50 * time.Millisecond
)

// WithDeadline is context.WithDeadline but for two things. If the process stood still when the
// deadline passed, the context ends a little later: the bytes that it waited for may have come
// long ago. And it does not say its deadline, which package net would not wait beyond.
func WithDeadline(parent context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	c := &deadlineContext{Context: parent, at: deadline, done: make(chan struct{})}
	c.setTimer()
	// The timer is set before: a parent that has ended stops it.
	stop := context.AfterFunc(parent, func() { c.end(parent.Err()) })
	return c, func() { stop(); c.end(context.Canceled) }
}

type deadlineContext struct {
	context.Context // the parent
	done            chan struct{}

	mu     sync.Mutex
	at     time.Time
	timer  *time.Timer // nil: it had ended before it began
	goesOn bool        // beyond the deadline
	err    error       // nil: it has not ended
	// after are called when it has ended, nil those that were stopped. There are few: a
	// request derives one or two contexts from it.
	after []func()
	few   [2]func() // what after has at first
}

func (c *deadlineContext) setTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.after = c.few[:0]
	if left := time.Until(c.at); left > 0 {
		c.timer = time.AfterFunc(left, func() { c.expire(time.Now()) })
	} else {
		c.endLocked(context.DeadlineExceeded)
	}
}

// AfterFunc is what package context asks a context for that is not its own: without it, each
// context that derives from this one would start a goroutine.
func (c *deadlineContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	i := len(c.after)
	c.after = append(c.after, f)
	return func() bool { return c.stop(i) }
}

// stop stops a call from being made after the end; it returns false if it was made, or stopped.
func (c *deadlineContext) stop(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.after[i] == nil {
		return false
	}
	c.after[i] = nil
	return true
}

// expire ends the context, unless the process stood still.
func (c *deadlineContext) expire(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.goesOn && now.Sub(c.at) >= stoodStill && c.err == nil {
		c.goesOn = true
		c.timer.Reset(goOnFor)
		return
	}
	c.endLocked(context.DeadlineExceeded)
}

func (c *deadlineContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(err)
}

func (c *deadlineContext) endLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	close(c.done)
	if c.timer != nil {
		c.timer.Stop()
	}
	for _, f := range c.after {
		if f != nil {
			go f() // it may ask why the context has ended
		}
	}
}

// Deadline says that there is none.
func (c *deadlineContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done is closed when the context ends.
func (c *deadlineContext) Done() <-chan struct{} { return c.done }

// Err is why the context has ended.
func (c *deadlineContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
