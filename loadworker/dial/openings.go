package dial

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// Openings count the attempts to open a connection whose next step is this side's. One that
// waits for the target, or for a name server, does not count: it takes no processor time, and
// its wait is the target's, however many others there are. A nil *Openings counts none.
//
// When a target that stood still answers, all attempts that waited can go on. Few of them do at
// once: each step of a handshake takes some 300 us of processor time, and an event loop would
// have to wait for all of them.
type Openings struct {
	limit int64
	freed func()
	busy  atomic.Int64
	steps chan struct{} // has one for each attempt that has waited and goes on
}

// stepsAtOnce are more than a processor can do, so that it is never idle.
const stepsAtOnce = 4

// NewOpenings returns a count that is full with so many attempts. When one of them begins to
// wait for the target, so that it is not full any more, freed is called, by any goroutine.
func NewOpenings(limit int, freed func()) *Openings {
	return &Openings{limit: int64(limit), freed: freed, steps: make(chan struct{}, stepsAtOnce)}
}

// Full reports whether as many attempts as the limit take processor time. An attempt goes on
// when the target has answered, even if it is full: there may be more than the limit.
func (o *Openings) Full() bool { return o != nil && o.busy.Load() >= o.limit }

// Begin counts an attempt, and returns the context to open the connection with.
func (o *Openings) Begin(ctx context.Context) (context.Context, *Opening) {
	if o == nil {
		return ctx, nil
	}
	o.busy.Add(1)
	a := &Opening{of: o}
	return context.WithValue(ctx, openingKey{}, a), a
}

// Opening is an attempt to open a connection.
type Opening struct {
	mu    sync.Mutex
	of    *Openings // nil: it has ended
	waits bool
	steps int // it has waited, and goes on: one, or more if goroutines share the connection
}

// End ends the attempt. It does not call freed.
func (a *Opening) End() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop(a.of)
	if a.of != nil && !a.waits {
		a.of.busy.Add(-1)
	}
	a.of = nil
}

// Opened says that what is left to do is the caller's, before End.
func (a *Opening) Opened() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop(a.of)
}

// stop lets another attempt go on.
func (a *Opening) stop(o *Openings) {
	for ; a.steps > 0; a.steps-- {
		<-o.steps
	}
}

// wait says that the attempt waits for the target, until goOn is called.
func (a *Opening) wait() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.stop(a.of)
	o, waited := a.of, a.waits
	a.waits = true
	a.mu.Unlock()
	if o != nil && !waited && o.busy.Add(-1) == o.limit-1 {
		o.freed()
	}
}

func (a *Opening) goOn() {
	if a == nil {
		return
	}
	a.mu.Lock()
	o, waited := a.of, a.waits
	a.waits = false
	if o != nil && waited {
		o.busy.Add(1)
	}
	a.mu.Unlock()
	if o == nil || !waited {
		return
	}
	o.step()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps++
	if a.of == nil { // it has ended meanwhile
		a.stop(o)
	}
}

// step waits until few others go on.
func (o *Openings) step() {
	select {
	case o.steps <- struct{}{}:
	default:
		o.steps <- struct{}{}
		// The runtime would run it before an event loop that has been ready for longer.
		runtime.Gosched()
	}
}

type openingKey struct{}

// openingOf is the attempt that a context is of; nil: it is of none that is counted.
func openingOf(ctx context.Context) *Opening {
	a, _ := ctx.Value(openingKey{}).(*Opening)
	return a
}

// Waiting says that the attempt to open a connection that a context is of waits for the
// target, until the function that it returns is called.
func Waiting(ctx context.Context) (ended func()) {
	a := openingOf(ctx)
	a.wait()
	return a.goOn
}

// counted is a connection under a handshake, which waits for the target while it reads or
// writes.
type counted struct {
	net.Conn
	opening *Opening
}

// Counting returns a connection for a handshake. While it is used, the attempt to open a
// connection that a context is of waits for the target.
func Counting(ctx context.Context, conn net.Conn) net.Conn {
	if a := openingOf(ctx); a != nil {
		return &counted{conn, a}
	}
	return conn
}

func (c *counted) Read(b []byte) (int, error) {
	c.opening.wait()
	defer c.opening.goOn()
	return c.Conn.Read(b)
}

// Write waits for a target that reads nothing.
func (c *counted) Write(b []byte) (int, error) {
	c.opening.wait()
	defer c.opening.goOn()
	return c.Conn.Write(b)
}

// SyscallConn returns access to the socket.
func (c *counted) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
