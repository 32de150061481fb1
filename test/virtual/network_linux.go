package virtual

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Network connects the two sides of a test within a bubble of testing/synctest. Its connections are
// pairs of sockets: the kernel holds the bytes and takes no time for them, and who waits for
// some waits in the bubble, so that its clock advances only when all that could be done at an
// instant was done. Event loops wait by a clock, everything else on an end of a pair.
type Network struct {
	epoll int // has the ends

	mu        sync.Mutex
	ends      map[int32]*end // by descriptor
	clocks    []*clock
	listeners map[string]*listener // by address
}

// NewNetwork returns a Network without connections. It is made outside of the bubble, which it must
// outlast: goroutines that end with the bubble use it.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = unix.Close(epoll) })
	return &Network{epoll: epoll, ends: map[int32]*end{}, listeners: map[string]*listener{}}
}

// Deliver tells the ends whose sockets have changed.
func (n *Network) Deliver() {
	n.mu.Lock()
	defer n.mu.Unlock()
	var events [64]unix.EpollEvent
	for {
		got, err := unix.EpollWait(n.epoll, events[:], 0)
		for i := range max(got, 0) {
			if e := n.ends[events[i].Fd]; e != nil {
				e.change()
			}
		}
		if !errors.Is(err, unix.EINTR) && got < len(events) {
			return
		}
	}
}

// moved tells everything that waits that bytes have moved.
func (n *Network) moved() {
	n.Deliver()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.clocks {
		c.Wake()
	}
}

// Listen returns a listener at a new address.
func (n *Network) Listen() net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), uint16(1000+len(n.listeners)))
	l := &listener{address: net.TCPAddrFromAddrPort(at), accepted: make(chan net.Conn, 1<<12), closed: make(chan struct{})}
	n.listeners[at.String()] = l
	return l
}

// Dial connects to a listener. Where there is none, it is refused.
func (n *Network) Dial(_ context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	l.accepted <- n.add(fds[0], l.address)
	return n.add(fds[1], l.address), nil
}

// listener accepts connections of a Network.
type listener struct {
	address  net.Addr
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return l.address }

// end is one end of a pair of sockets, for goroutines.
type end struct {
	network *Network
	address net.Addr

	mu          sync.Mutex
	changed     *sync.Cond
	changes     int // of the socket, or of what ends a wait
	fd          int // negative: it is closed
	read, write deadline
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

var (
	_ net.Conn     = (*end)(nil)
	_ syscall.Conn = (*end)(nil)
)

func (n *Network) add(fd int, address net.Addr) *end {
	e := &end{network: n, address: address, fd: fd}
	e.changed = sync.NewCond(&e.mu)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends[int32(fd)] = e
	_ = unix.EpollCtl(n.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd),
	})
	return e
}

func (e *end) change() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes++
	e.changed.Broadcast()
}

// until calls a function, which does not wait, until it is done, an instant or the end is closed.
func (e *end) until(d *deadline, done func(fd int) bool) error {
	for {
		e.mu.Lock()
		before := e.changes
		err := e.ended(d)
		ok := err == nil && done(e.fd)
		e.mu.Unlock()
		if ok || err != nil {
			e.network.moved()
			return err
		}
		e.network.moved()
		e.mu.Lock()
		for e.changes == before {
			e.changed.Wait()
		}
		e.mu.Unlock()
	}
}

// ended is why nothing may be waited for.
func (e *end) ended(d *deadline) error {
	switch {
	case e.fd < 0:
		return net.ErrClosed
	case !d.at.IsZero() && !time.Now().Before(d.at):
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (e *end) Read(b []byte) (n int, err error) {
	ended := e.until(&e.read, func(fd int) bool {
		n, err = syscall.Read(fd, b)
		return !errors.Is(err, syscall.EAGAIN)
	})
	switch {
	case ended != nil:
		return 0, ended
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (e *end) Write(b []byte) (n int, err error) {
	ended := e.until(&e.write, func(fd int) bool {
		for n < len(b) && err == nil {
			var more int
			if more, err = syscall.Write(fd, b[n:]); errors.Is(err, syscall.EAGAIN) {
				err = nil
				return false
			}
			n += max(more, 0)
		}
		return true
	})
	if ended != nil || err == nil {
		return n, ended
	}
	return n, os.NewSyscallError("write", err)
}

func (e *end) Close() error {
	e.network.mu.Lock()
	e.mu.Lock()
	fd := e.fd
	if e.fd = -1; fd >= 0 {
		delete(e.network.ends, int32(fd))
		_ = unix.EpollCtl(e.network.epoll, unix.EPOLL_CTL_DEL, fd, nil)
		_ = unix.Close(fd)
	}
	e.mu.Unlock()
	e.network.mu.Unlock()
	e.change()
	e.network.moved()
	return nil
}

func (e *end) LocalAddr() net.Addr  { return e.address }
func (e *end) RemoteAddr() net.Addr { return e.address }

func (e *end) SetDeadline(t time.Time) error      { e.set(t, &e.read, &e.write); return nil }
func (e *end) SetReadDeadline(t time.Time) error  { e.set(t, &e.read); return nil }
func (e *end) SetWriteDeadline(t time.Time) error { e.set(t, &e.write); return nil }

func (e *end) set(t time.Time, deadlines ...*deadline) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range deadlines {
		if d.timer != nil {
			d.timer.Stop()
		}
		d.at, d.timer = t, nil
		if left := time.Until(t); !t.IsZero() && left > 0 {
			d.timer = time.AfterFunc(left, e.change)
		}
	}
	e.changes++
	e.changed.Broadcast()
}

// SyscallConn gives the socket to those that read and write by themselves, or detach it.
func (e *end) SyscallConn() (syscall.RawConn, error) { return rawEnd{e}, nil }

type rawEnd struct{ *end }

func (r rawEnd) Control(f func(fd uintptr)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd < 0 {
		return net.ErrClosed
	}
	f(uintptr(r.fd))
	return nil
}

func (r rawEnd) Read(f func(fd uintptr) bool) error {
	return r.until(&r.read, func(fd int) bool { return f(uintptr(fd)) })
}

func (r rawEnd) Write(f func(fd uintptr) bool) error {
	return r.until(&r.write, func(fd int) bool { return f(uintptr(fd)) })
}

// clock is that of an event loop.
type clock struct {
	network *Network
	woken   chan struct{}
}

var _ loop.Clock = (*clock)(nil)

// Clock returns the clock of an event loop.
func (n *Network) Clock() loop.Clock {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clocks = append(n.clocks, &clock{network: n, woken: make(chan struct{}, 1)})
	return n.clocks[len(n.clocks)-1]
}

// Wait waits in the bubble. What the loop has written is with the servers first.
func (c *clock) Wait(epoll int, timeout time.Duration) {
	c.network.Deliver()
	if timeout <= 0 {
		return
	}
	at := time.Now().Add(timeout)
	defer time.AfterFunc(timeout, c.Wake).Stop()
	poll := []unix.PollFd{{Fd: int32(epoll), Events: unix.POLLIN}}
	for time.Now().Before(at) {
		if n, _ := unix.Poll(poll, 0); n > 0 {
			return
		}
		<-c.woken
	}
}

func (c *clock) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}
