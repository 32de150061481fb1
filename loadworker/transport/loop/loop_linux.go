package loop

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Loop waits for events of many connections and handles them. Only Wake may be called
// from other goroutines. All times are since the loop's start.
type Loop struct {
	// Openings count the connections that are being opened; nil: they are not counted.
	Openings *dial.Openings
	// Handled is called after each event; nil: nothing is.
	Handled func()
	// Clock waits for events; nil: the kernel does.
	Clock Clock

	start time.Time
	open  Opener

	epoll, waker int // descriptors
	conns        []*Conn
	events       [64]unix.EpollEvent // more wait: what is due is sent before
	in           []byte
	text         []byte // of TLS; nil while there was none
	pipe         socket.Pipe
	control      socket.Control
	punctuality  punctuality
	told         told
	justTold     bool // told.at is now: nothing was done since, and a read comes next
	waiting      deadlines
	interrupted  bool
	yielded      time.Duration // when Go's scheduler last had its turn

	dials  sync.WaitGroup
	mu     sync.Mutex
	dialed []dialResult
	closed bool
}

// Opener opens a connection. Its error is a *failure.Error.
type Opener func(ctx context.Context) (net.Conn, error)

// inBuffer is the size of the buffer that all connections of a loop read into.
const inBuffer = 64 << 10

// maxRecord is more than a record of TLS has: a part of one may have arrived before.
const maxRecord = 20 << 10

// wakerNumber is the waker's among the numbers of connections.
const wakerNumber = -1

// New returns a loop. It fails on a kernel before 5.11.
func New(start time.Time, open Opener) (*Loop, error) {
	l := &Loop{start: start, open: open, epoll: -1, waker: -1, in: make([]byte, inBuffer)}
	var err error
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		l.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = l.watch(unix.EPOLL_CTL_ADD, l.waker, wakerNumber)
	}
	if err == nil {
		_, _, err = l.epollWait(0)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("event loop: %w", err)
	}
	return l, nil
}

// watch has epoll report what a descriptor is ready for now, and each change once.
func (l *Loop) watch(operation, fd int, number int32) error {
	return unix.EpollCtl(l.epoll, operation, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: number,
	})
}

// Wait waits until something happens, but not beyond an instant, and handles it.
func (l *Loop) Wait(until time.Duration) {
	if d := l.waiting.nearest(); d != nil {
		until = min(until, d.at)
	}
	timeout := l.yield(until)
	if l.Clock != nil {
		l.Clock.Wait(l.epoll, timeout)
		timeout = 0
	}
	n, all, _ := l.epollWait(timeout) // New found that it works
	l.punctuality = l.told.again(time.Since(l.start), all)
	for i := range l.events[:n] {
		l.justTold = i == 0 && l.events[i].Fd != wakerNumber
		l.handle(&l.events[i])
		l.justTold = false
		if l.Handled != nil {
			l.Handled()
		}
	}
	// What has passed since the wait ended is expired by the next one, which does not wait then.
	l.expire(l.told.at)
}

// shortWait is the longest wait of which Go's scheduler is not told. It would give the processor to another thread
// meanwhile, and take another one back, which costs more than so short a wait saves. In a longer one, goroutines that
// shake hands need the processor.
const shortWait = 100 * time.Microsecond

// yieldEvery is half of the 10 ms after which Go's monitor preempts a goroutine (sysmon and retake in
// runtime/proc.go). The monitor counts them from when the scheduler last chose the goroutine, although that has waited
// in calls since, and takes the processor from one that is in a call then. After that, it looks every 20 us for a
// while: for a loop of 3,000 events a second, about as often as there were events.
const yieldEvery = 5 * time.Millisecond

// yield has the scheduler choose the loop again before a long wait, if it has not for so long. It returns for how long
// to wait until an instant.
func (l *Loop) yield(until time.Duration) (timeout time.Duration) {
	now := time.Since(l.start)
	if until-now <= shortWait || now-l.yielded < yieldEvery {
		return until - now
	}
	runtime.Gosched()
	l.yielded = time.Since(l.start)
	return until - l.yielded
}

// epollWait waits for events by epoll_pwait2, whose timeout has the microseconds that
// epoll_wait has not. all says that there are no more: there was room for them, and no signal
// ended the wait, after which nothing is known. The signal may be the end of a stop, in which
// many have come.
func (l *Loop) epollWait(timeout time.Duration) (n int, all bool, err error) {
	limit := unix.NsecToTimespec(int64(max(timeout, 0)))
	call := unix.Syscall6
	if timeout <= shortWait {
		call = unix.RawSyscall6
	}
	told, _, errno := call(unix.SYS_EPOLL_PWAIT2, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])),
		uintptr(len(l.events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	switch errno {
	case 0:
		return int(told), int(told) < len(l.events), nil
	case unix.EINTR:
		return 0, false, nil
	default:
		return 0, false, os.NewSyscallError("epoll_pwait2", errno)
	}
}

// handle handles an event of a connection or of the waker. It reads first: the other side may
// have answered before it closed the connection, which nothing can be written to after that.
func (l *Loop) handle(e *unix.EpollEvent) {
	if e.Fd == wakerNumber {
		l.takeDialed()
		return
	}
	c := l.conns[e.Fd]
	if c.open && e.Events&^unix.EPOLLOUT != 0 {
		c.read(e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0, readAtOnce)
	}
	if c.open && len(c.rest) > 0 && e.Events&unix.EPOLLOUT != 0 {
		c.flush(c.rest)
	}
}

// Interrupt ends all waiting: that for a response at once, that for a connection when
// its context ends. Nothing may be written after it.
func (l *Loop) Interrupt() {
	l.interrupted = true
	for d := l.waiting.nearest(); d != nil; d = l.waiting.nearest() {
		l.giveUp(d, failure.ErrInterrupted)
	}
}

// Elapsed is the time now.
func (l *Loop) Elapsed() time.Duration { return time.Since(l.start) }

// Interrupted reports whether Interrupt was called.
func (l *Loop) Interrupted() bool { return l.interrupted }

// Wake ends a Wait.
func (l *Loop) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed { // after that, the number may be of another descriptor
		_, _ = unix.Write(l.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		if l.Clock != nil {
			l.Clock.Wake()
		}
	}
}

// Close closes the loop and the connections that were not released.
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
		c.Close()
	}
	for _, fd := range []int{l.waker, l.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
