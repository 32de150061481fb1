package groundtruth

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop is one thread that serves its connections. Descriptors are never
// blocking, so that system calls need not tell the scheduler of themselves; the
// one wait does.
type loop struct {
	server   *Server
	poll     int
	waker    int
	listener int // -1: closed
	address  unix.SockaddrInet4
	conns    []*conn // by descriptor
	timers   timers
	buffer   []byte
	stamps   stampedReads
	scripted bool // the script's timers are set
	refusing bool
}

// run starts the loops.
func (s *Server) run(c Config) error {
	at := netip.MustParseAddrPort(c.Address) // hold has parsed it
	address := unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	var loops []*loop
	for range c.Loops {
		l := &loop{server: s, address: address, buffer: make([]byte, 64<<10)}
		if err := l.open(); err != nil {
			l.close()
			for _, other := range loops {
				other.close()
			}
			return err
		}
		address = l.address // the others take the port that the first was given
		loops = append(loops, l)
		s.wakers = append(s.wakers, l.waker)
	}
	s.address = netip.AddrPortFrom(at.Addr(), uint16(address.Port)).String()
	for _, l := range loops {
		s.loops.Go(l.serve)
	}
	return nil
}

// wake makes all loops apply a change.
func (s *Server) wake() {
	for _, fd := range s.wakers {
		_, _ = unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

func (l *loop) open() error {
	l.poll, l.waker, l.listener = -1, -1, -1
	var err error
	if l.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	if l.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	if err := l.watch(l.waker, unix.EPOLL_CTL_ADD, unix.EPOLLIN); err != nil {
		return err
	}
	return l.listen()
}

func (l *loop) watch(fd, op int, events uint32) error {
	if err := unix.EpollCtl(l.poll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// backlog is as long as the kernel allows.
const backlog = 65535

// listen opens the port, which all loops share: the kernel divides the
// connections among them.
func (l *loop) listen() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	l.listener = fd
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		stamp(fd, l.server.stamp),
		unix.Bind(fd, &l.address),
		unix.Listen(fd, backlog),
	)
	if err != nil {
		return fmt.Errorf("listen on port %d: %w", l.address.Port, err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fmt.Errorf("getsockname: %w", err)
	}
	l.address.Port = name.(*unix.SockaddrInet4).Port
	return l.watch(fd, unix.EPOLL_CTL_ADD, unix.EPOLLIN)
}

// close closes everything.
func (l *loop) close() {
	l.drop()
	for _, fd := range []int{l.listener, l.waker, l.poll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// drop closes all connections.
func (l *loop) drop() {
	for _, c := range l.conns {
		if c != nil {
			l.hangUp(c, false)
		}
	}
}

func (l *loop) serve() {
	// The thread ends with the loop: its timers were made exact.
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(time.Microsecond), 0, 0, 0)
	defer l.close()
	events := make([]unix.EpollEvent, 512)
	for !l.server.closing.Load() {
		idle := Now()
		n := l.wait(events)
		l.stall(idle)
		if l.server.stamp {
			l.stamps.compare(Now())
		}
		for i := range events[:n] {
			l.handle(&events[i])
		}
		l.expire()
	}
}

// wait waits for events, or for the next timer.
func (l *loop) wait(events []unix.EpollEvent) int {
	var limit *unix.Timespec
	if len(l.timers) > 0 {
		ts := unix.NsecToTimespec(max(0, l.timers[0].at-Now()))
		limit = &ts
	}
	// Microseconds count, which epoll_wait does not know.
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.poll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if errno != 0 { // interrupted
		return 0
	}
	return int(n)
}

func (l *loop) handle(e *unix.EpollEvent) {
	switch fd := int(e.Fd); {
	case fd == l.listener:
		l.accept()
	case fd == l.waker:
		_, _ = unix.Read(fd, l.buffer[:8])
		l.schedule()
	case fd < len(l.conns) && l.conns[fd] != nil:
		c := l.conns[fd]
		if e.Events&unix.EPOLLOUT != 0 && c.blocked {
			l.resume(c)
		}
		if !c.gone && e.Events&^unix.EPOLLOUT != 0 {
			l.read(c)
		}
	}
}

// accept takes the connections that have come. Its first request is usually there
// already, and is served before the next connection is accepted: after a stall, the
// oldest requests are answered first.
func (l *loop) accept() {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // none is left, or no descriptor is
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if l.watch(fd, unix.EPOLL_CTL_ADD, unix.EPOLLIN) != nil {
			_ = unix.Close(fd)
			continue
		}
		for len(l.conns) <= fd {
			l.conns = append(l.conns, nil)
		}
		c := &conn{fd: fd}
		l.conns[fd] = c
		l.server.counts.connections.Add(1)
		up(&l.server.counts.open, &l.server.counts.peak)
		l.read(c)
	}
}

// raw is a system call on a descriptor that does not block.
func raw(call uintptr, fd int, p []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// receive reads what has come.
func (l *loop) receive(c *conn) (n int, errno unix.Errno) {
	if !l.server.stamp {
		return raw(unix.SYS_READ, c.fd, l.buffer)
	}
	n, c.came, errno = l.stamps.read(c.fd, l.buffer)
	return n, errno
}

func (l *loop) read(c *conn) {
	n, errno := l.receive(c)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0 || n <= 0:
		l.hangUp(c, false)
		return
	}
	if c.upgrade != nil {
		if !c.busy { // it answers the server's close
			l.hangUp(c, false)
		}
		return
	}
	data := l.buffer[:n]
	if len(c.in) > 0 {
		data = append(c.in, data...)
	}
	l.consume(c, data)
}

// consume serves the complete requests in the buffer while the connection is free.
func (l *loop) consume(c *conn, data []byte) {
	for !c.busy && len(data) > 0 {
		r, n, ok := l.server.parse(data)
		if !ok {
			l.server.counts.bad.Add(1)
			l.hangUp(c, false)
			return
		}
		if n == 0 {
			break
		}
		data = data[n:]
		if l.begin(c, r); c.gone {
			return
		}
		if c.upgrade != nil {
			return
		}
	}
	if len(data) > maxBody+maxHead {
		l.hangUp(c, false)
		return
	}
	if c.in = append(c.in[:0], data...); len(c.in) == 0 {
		c.in = nil // most connections are idle: they need no memory
	}
}

// begin takes a request.
func (l *loop) begin(c *conn, r request) {
	s, now := l.server, Now()
	c.busy, c.reply, c.written, c.last = true, &r.route.reply, 0, r.close
	c.place, c.upgrade = s.begin(r.route, r.number, now), r.upgrade
	s.stamped(c.place, c.came)
	if c.reply.Stream != nil {
		c.streaming = &streaming{arrival: arrival{r.route, r.number, now, c.place}}
	}
	if s.happening(Resets, now) {
		l.hangUp(c, true)
		return
	}
	if wait := s.draw(r.route); wait > 0 {
		c.delay(wait)
		l.timers.push(timer{at: now + wait, conn: c})
		return
	}
	l.write(c)
}

// write sends the reply, or its next piece.
func (l *loop) write(c *conn) {
	if c.streaming != nil {
		l.stream(c)
		return
	}
	rest := c.reply.Bytes[c.written:c.reply.until(c.written)]
	n, all := l.put(c, rest)
	c.written += n
	if !all {
		return
	}
	if c.written < len(c.reply.Bytes) {
		l.timers.push(timer{at: Now() + int64(c.reply.Every), conn: c})
		return
	}
	l.finish(c)
}

// put writes bytes, and returns how many of them it wrote. If it did not write all, the
// connection is blocked or gone.
func (l *loop) put(c *conn, rest []byte) (n int, all bool) {
	if len(rest) == 0 {
		return 0, true
	}
	n, errno := raw(unix.SYS_WRITE, c.fd, rest)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		n = 0
	case errno != 0:
		l.hangUp(c, false)
		return 0, false
	}
	l.block(c, n < len(rest))
	return n, !c.blocked && !c.gone
}

// resume goes on with a reply, and then with the requests that waited for it.
func (l *loop) resume(c *conn) {
	l.write(c)
	if !c.gone && !c.busy && len(c.in) > 0 {
		l.consume(c, c.in)
	}
}

// block waits until a connection can be written to, or ends that.
func (l *loop) block(c *conn, blocked bool) {
	if c.blocked == blocked {
		return
	}
	c.blocked = blocked
	events := uint32(unix.EPOLLIN)
	if blocked {
		events |= unix.EPOLLOUT
	}
	if l.watch(c.fd, unix.EPOLL_CTL_MOD, events) != nil {
		l.hangUp(c, false)
	}
}

// finish ends a request whose reply was written.
func (l *loop) finish(c *conn) {
	l.server.end(c.place)
	c.busy, c.streaming = false, nil
	switch end := c.reply.end(); {
	case end == Abort:
		l.hangUp(c, true)
	case end == Close || c.last:
		l.hangUp(c, false)
	}
}

// hangUp closes a connection, in order or by a reset.
func (l *loop) hangUp(c *conn, reset bool) {
	if c.gone {
		return
	}
	c.gone = true
	if reset {
		_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Close(c.fd)
	l.conns[c.fd] = nil
	if c.busy {
		c.streaming.unfinished()
		l.server.counts.inFlight.Add(-1)
	}
	l.server.counts.open.Add(-1)
}
