package socket

import (
	"net"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// Interruptible is the part of a connection that another goroutine may use: its socket, which
// Interrupt makes fail by a deadline that has passed. A connection embeds it. All else of it
// is for the goroutine of the connection. The zero value has no socket.
type Interruptible struct {
	mu     sync.Mutex
	socket net.Conn // nil: none
	// deadline is that of the socket; zero: it is not known.
	deadline    time.Time
	interrupted bool
}

// Interrupt ends the request that is under way, and all later ones, until Resume. Dialling
// is ended by its context.
func (i *Interruptible) Interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.interrupted, i.deadline = true, time.Time{}
	if i.socket != nil {
		_ = i.socket.SetDeadline(time.Unix(1, 0))
	}
}

// Resume permits requests again. It must not be called during one.
func (i *Interruptible) Resume() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.interrupted = false
}

// Interruption is failure.ErrInterrupted if that is the cause of an error, and else the error.
func (i *Interruptible) Interruption(err error) error {
	if i.IsInterrupted() {
		return failure.ErrInterrupted
	}
	return err
}

// IsInterrupted says whether Interrupt was called, and Resume not since.
func (i *Interruptible) IsInterrupted() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.interrupted
}

// Share makes conn the socket that Interrupt ends.
func (i *Interruptible) Share(conn net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.socket, i.deadline = conn, time.Time{}
}

// Unshare takes the socket from Interrupt, and closes conn unless it is nil.
func (i *Interruptible) Unshare(conn net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
	i.socket = nil
}

// SetDeadline sets the deadline of the socket. It is false if the connection is interrupted.
func (i *Interruptible) SetDeadline(deadline time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.set(deadline)
}

// SetReadDeadline is SetDeadline of reads alone.
func (i *Interruptible) SetReadDeadline(deadline time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.interrupted {
		return false
	}
	i.deadline = time.Time{}
	_ = i.socket.SetReadDeadline(deadline) // if this fails, so does the read that follows
	return true
}

// EnsureDeadline ensures that the socket has a deadline after now, and none after deadline:
// one that was set earlier may stay, as to set it for each request would cost as much as
// parsing a response. It is false if the connection is interrupted.
func (i *Interruptible) EnsureDeadline(now, deadline time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.interrupted && i.deadline.After(now) && !i.deadline.After(deadline) {
		return true
	}
	return i.set(deadline)
}

// set is SetDeadline. The mutex is held.
func (i *Interruptible) set(deadline time.Time) bool {
	if i.interrupted {
		return false
	}
	i.deadline = deadline
	_ = i.socket.SetDeadline(deadline) // if this fails, so does the write or read that follows
	return true
}
