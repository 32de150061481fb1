package http1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Loop drives many plain connections from one goroutine: a request that waits is
// then some 200 bytes instead of a goroutine of its own, and a response costs one
// read instead of two. Only Wake may be called from other goroutines.
//
//	Send ── write; dial first if the connection is closed
//	Wait ── epoll ── read ── parser ── onDone(connection, response or error)
//	  └─ deadlines, nearest first
//
// All times are since the loop's start.
type Loop struct {
	client *Client
	start  time.Time
	onDone func(*LoopConn, transport.Response, error)

	epoll, waker int // descriptors
	conns        []*LoopConn
	events       [256]unix.EpollEvent
	in, out      []byte
	control      control
	waiting      deadlines
	dialing      int // connections
	interrupted  bool

	dials  sync.WaitGroup
	mu     sync.Mutex
	dialed []dialResult
	closed bool
}

// inBuffer is the size of the buffer that all connections of a loop read into.
const inBuffer = 64 << 10

// wakerNumber is the waker's among the numbers of connections.
const wakerNumber = -1

// NewLoop returns a loop that calls onDone, from Send or Wait, with the result of
// each request. It fails where there can be none: over TLS, and on a kernel before
// 5.11.
func (c *Client) NewLoop(start time.Time, onDone func(*LoopConn, transport.Response, error)) (*Loop, error) {
	if c.dialer.Target().TLS {
		return nil, fmt.Errorf("event loop: %w over TLS", errors.ErrUnsupported)
	}
	l := &Loop{client: c, start: start, onDone: onDone, epoll: -1, waker: -1, in: make([]byte, inBuffer)}
	var err error
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		l.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = l.register(l.waker, wakerNumber)
	}
	if err == nil {
		_, err = l.epollWait(0)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("event loop: %w", err)
	}
	return l, nil
}

// register has epoll report each change of a descriptor once.
func (l *Loop) register(fd int, number int32) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: number,
	})
}

// Wait waits until something happens, but not beyond an instant, and handles it.
func (l *Loop) Wait(until time.Duration) {
	if c := l.waiting.first; c != nil {
		until = min(until, c.deadline)
	}
	n, _ := l.epollWait(until - time.Since(l.start)) // NewLoop found that it works
	for i := range l.events[:n] {
		l.handle(&l.events[i])
	}
	if l.waiting.first != nil {
		l.expire(time.Since(l.start))
	}
}

// epollWait waits for events by epoll_pwait2, whose timeout has the microseconds that
// epoll_wait has not.
func (l *Loop) epollWait(timeout time.Duration) (int, error) {
	limit := unix.NsecToTimespec(int64(max(timeout, 0)))
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])),
		uintptr(len(l.events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	default:
		return 0, os.NewSyscallError("epoll_pwait2", errno)
	}
}

// handle handles an event of a connection or of the waker.
func (l *Loop) handle(e *unix.EpollEvent) {
	if e.Fd == wakerNumber {
		l.takeDialed()
		return
	}
	c := l.conns[e.Fd]
	if c.open && len(c.rest) > 0 && e.Events&unix.EPOLLOUT != 0 {
		l.write(c, c.rest)
	}
	if c.open && e.Events&^unix.EPOLLOUT != 0 {
		l.read(c, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
	}
}

// expire fails the requests whose deadline has passed.
func (l *Loop) expire(now time.Duration) {
	for c := l.waiting.first; c != nil && c.deadline <= now; c = l.waiting.first {
		phase := failure.Reading
		if len(c.rest) > 0 {
			phase = failure.Writing
		}
		l.fail(c, &failure.Error{Phase: phase, Err: os.ErrDeadlineExceeded})
	}
}

// Interrupt ends all requests: those that wait for a response at once, the others
// when their context ends the dialling. No request may be sent after it.
func (l *Loop) Interrupt() {
	l.interrupted = true
	for c := l.waiting.first; c != nil; c = l.waiting.first {
		l.fail(c, failure.ErrInterrupted)
	}
}

// Dialing returns how many connections are being opened.
func (l *Loop) Dialing() int { return l.dialing }

// dialResult is the result of dialling for a connection: a socket or an error.
type dialResult struct {
	conn *LoopConn
	fd   int
	err  error
}

// dial opens a socket, in a goroutine of its own. ctx may end it before Interrupt is
// called.
func (l *Loop) dial(ctx context.Context, c *LoopConn, deadline time.Duration) {
	conn := l.client.newConn()
	r := dialResult{conn: c, err: conn.Open(ctx, l.start.Add(deadline))}
	switch {
	case r.err == nil:
		r.fd, r.err = conn.release()
	case ctx.Err() != nil:
		r.err = failure.ErrInterrupted
	}
	l.mu.Lock()
	l.dialed = append(l.dialed, r)
	l.mu.Unlock()
	l.Wake()
}

// takeDialed sends the requests whose connections were dialled.
func (l *Loop) takeDialed() {
	var count [8]byte
	_, _ = unix.Read(l.waker, count[:])
	l.mu.Lock()
	results := l.dialed
	l.dialed = nil
	l.mu.Unlock()
	l.dialing -= len(results)
	for _, r := range results {
		if r.err == nil {
			r.err = l.connect(r.conn, r.fd)
		}
		if r.err != nil || l.interrupted {
			l.fail(r.conn, r.err)
			continue
		}
		l.begin(r.conn, r.conn.rest)
	}
}

// Wake ends a Wait.
func (l *Loop) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed { // after that, the number may be of another descriptor
		_, _ = unix.Write(l.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Close closes the loop and the connections that were not returned.
func (l *Loop) Close() {
	l.dials.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, r := range l.dialed {
		if r.err == nil {
			_ = unix.Close(r.fd)
		}
	}
	for _, c := range l.conns {
		c.close()
	}
	for _, fd := range []int{l.waker, l.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
