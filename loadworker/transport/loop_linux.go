package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Loop drives many plain connections from one goroutine: a request that waits is
// then some 200 bytes instead of a goroutine of its own, and a response costs one
// read instead of two. Only Wake may be called by others.
//
//	Send ── write; dial first if the wire is closed
//	Wait ── epoll ── read ── parser ── done(wire, response or error)
//	  └─ deadlines, nearest first
//
// All times are since the loop's start.
type Loop struct {
	dialer *Dialer
	start  time.Time
	done   func(*Wire, Response, error)

	poll, waker int
	wires       []*Wire
	events      [256]unix.EpollEvent
	in, out     []byte
	waiting     deadlines
	dialing     int // wires
	cut         bool

	dials  sync.WaitGroup
	mu     sync.Mutex
	dialed []dialed
	closed bool
}

// Wire is a connection of a Loop. The zero value is closed.
type Wire struct {
	// Tag is of whoever drives the loop, which does not look at it.
	Tag int

	number  int32 // in the loop
	fd      int32
	open    bool
	busy    bool   // a request is under way
	carried bool   // a request, since it was opened
	reused  bool   // by the request that is under way
	rest    []byte // of a request that is not yet written
	intake  intake

	deadline   time.Duration
	next, prev *Wire // by deadline, of those that wait for a response
}

// inBuffer is one for all connections of a loop.
const inBuffer = 64 << 10

// wakerNumber is no wire's.
const wakerNumber = -1

// NewLoop returns a loop that calls done, from Send or Wait, with what became
// of each request. It fails where there can be none: over TLS, and on a kernel
// before 5.11.
func (d *Dialer) NewLoop(start time.Time, done func(*Wire, Response, error)) (*Loop, error) {
	if d.tls != nil {
		return nil, fmt.Errorf("event loop: %w over TLS", errors.ErrUnsupported)
	}
	l := &Loop{dialer: d, start: start, done: done, poll: -1, waker: -1, in: make([]byte, inBuffer)}
	var err error
	if l.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		l.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = l.watch(l.waker, wakerNumber)
	}
	if err == nil {
		_, err = l.wait(0)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("event loop: %w", err)
	}
	return l, nil
}

// watch is told each change of a descriptor once.
func (l *Loop) watch(fd int, number int32) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: number,
	})
}

// Add adds a wire, with the socket of c if that is open. c is then closed.
func (l *Loop) Add(w *Wire, c *Conn) {
	w.number = int32(len(l.wires))
	l.wires = append(l.wires, w)
	carried := c.carried
	if fd, err := c.release(); err == nil {
		_ = l.connect(w, fd) // it is opened again for its first request
		w.carried = carried
	}
}

// IsOpen says whether a wire is open as far as the loop was told.
func (w *Wire) IsOpen() bool { return w.open }

// Return gives an open socket back to a connection.
func (l *Loop) Return(w *Wire, c *Conn) {
	if !w.open || w.busy {
		return
	}
	w.open = false
	// An error leaves the descriptor with nobody; the connection opens again.
	_ = unix.EpollCtl(l.poll, unix.EPOLL_CTL_DEL, int(w.fd), nil)
	c.resume(int(w.fd))
	c.carried = w.carried
}

// connect makes fd the socket of a wire.
func (l *Loop) connect(w *Wire, fd int) error {
	w.fd, w.open, w.carried = int32(fd), true, false
	err := l.watch(fd, w.number)
	if err != nil {
		l.shut(w)
	}
	return err
}

func (l *Loop) shut(w *Wire) {
	if w.open {
		w.open = false
		_ = unix.Close(int(w.fd))
	}
}

// Send sends a request on a wire that has none under way, before a deadline.
func (l *Loop) Send(ctx context.Context, w *Wire, r *Request, deadline time.Duration) {
	w.busy, w.deadline = true, deadline
	w.intake.begin(r)
	l.out = r.appendTo(l.out[:0], l.dialer.host, l.dialer.agent)
	if !w.open {
		w.rest = append(w.rest, l.out...)
		l.dialing++
		l.dials.Go(func() { l.dial(ctx, w, deadline) })
		return
	}
	l.begin(w, l.out)
}

// begin begins to write a request.
func (l *Loop) begin(w *Wire, b []byte) {
	w.reused, w.carried = w.carried, true
	l.waiting.add(w)
	l.write(w, b)
}

func (l *Loop) write(w *Wire, b []byte) {
	n, errno := writeNow(w.fd, b)
	if errno != 0 && errno != unix.EAGAIN {
		l.fail(w, &Error{Phase: Writing, Err: errno})
		return
	}
	if n == len(b) {
		w.rest = nil
		return
	}
	w.rest = append(w.rest[:0], b[n:]...) // the rest when there is room
}

// read reads what is there. closed says that the other side will send no more.
func (l *Loop) read(w *Wire, closed bool) {
	for {
		n, errno := readNow(w.fd, l.in)
		switch {
		case errno == unix.EAGAIN:
			return
		case !w.busy: // it was closed, or bytes came that nobody asked for
			l.shut(w)
			return
		case errno != 0:
			l.fail(w, &Error{Phase: Reading, Err: errno})
			return
		}
		if err := w.intake.feed(l.in[:n]); err != nil {
			l.fail(w, &Error{Phase: Reading, Err: err})
			return
		}
		if w.intake.parser.done() {
			if closed || len(w.rest) > 0 || !w.intake.reusable() {
				l.shut(w)
			}
			l.end(w, w.intake.parser.response(), nil)
			return
		}
	}
}

// fail ends a request, whose connection is in an unknown state.
func (l *Loop) fail(w *Wire, err error) {
	l.shut(w)
	if l.cut {
		err = ErrCut
	}
	l.end(w, Response{}, err)
}

func (l *Loop) end(w *Wire, r Response, err error) {
	l.waiting.remove(w)
	r.Reused = w.reused
	w.busy, w.reused, w.rest, w.intake.held = false, false, nil, nil
	l.done(w, r, err)
}

// Wait waits until something happens, but not beyond an instant, and calls done
// for what did.
func (l *Loop) Wait(until time.Duration) {
	if w := l.waiting.first; w != nil {
		until = min(until, w.deadline)
	}
	n, _ := l.wait(until - time.Since(l.start)) // that it can, NewLoop saw
	for i := range l.events[:n] {
		l.handle(&l.events[i])
	}
	if l.waiting.first != nil {
		l.expire(time.Since(l.start))
	}
}

// wait waits for events. Microseconds count, which epoll_wait does not know.
func (l *Loop) wait(d time.Duration) (int, error) {
	limit := unix.NsecToTimespec(int64(max(d, 0)))
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.poll), uintptr(unsafe.Pointer(&l.events[0])),
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

func (l *Loop) handle(e *unix.EpollEvent) {
	if e.Fd == wakerNumber {
		l.woken()
		return
	}
	w := l.wires[e.Fd]
	if w.open && len(w.rest) > 0 && e.Events&unix.EPOLLOUT != 0 {
		l.write(w, w.rest)
	}
	if w.open && e.Events&^unix.EPOLLOUT != 0 {
		l.read(w, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
	}
}

// expire fails the requests whose deadline has passed.
func (l *Loop) expire(now time.Duration) {
	for w := l.waiting.first; w != nil && w.deadline <= now; w = l.waiting.first {
		phase := Reading
		if len(w.rest) > 0 {
			phase = Writing
		}
		l.fail(w, &Error{Phase: phase, Err: os.ErrDeadlineExceeded})
	}
}

// Cut ends all requests, at once or when their dialling is ended by its
// context. No more may be sent.
func (l *Loop) Cut() {
	l.cut = true
	for w := l.waiting.first; w != nil; w = l.waiting.first {
		l.fail(w, ErrCut)
	}
}

// Close closes the loop and the wires that were not returned.
func (l *Loop) Close() {
	l.dials.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, d := range l.dialed {
		if d.err == nil {
			_ = unix.Close(d.fd)
		}
	}
	for _, w := range l.wires {
		l.shut(w)
	}
	for _, fd := range []int{l.waker, l.poll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
