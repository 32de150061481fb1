package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// lookAfter is how long a connection may idle before it is looked at: a server
// that closes idle connections waits longer, and the look costs a system call.
const lookAfter = 5 * time.Millisecond

// Conn is one persistent connection, opened again when it is lost. It holds no
// buffer: one is taken only while there are bytes to move.
type Conn struct {
	dialer *Dialer
	net    net.Conn // nil: closed
	// raw reads from the socket once it is readable; nil: through net, which is TLS.
	raw     syscall.RawConn
	secured []byte
	drain   func(fd uintptr) bool // what raw is given: an allocation saved
	used    time.Time             // when the last request was sent

	intake intake
	err    error // of drain

	mu     sync.Mutex
	shared net.Conn // what Interrupt acts on; net, but for a moment
	// armed is the deadline that the socket has. It may be before that of the
	// request: it is then set again when it passes, which is once in many
	// requests, where setting it each time costs as much as parsing a response.
	armed time.Time
	cut   bool
}

var _ Line = (*Conn)(nil)

var _ Client = (*Dialer)(nil)

// NewLine is NewConn.
func (d *Dialer) NewLine() Line { return d.NewConn() }

// Name is that of the client that a Dialer is: connections of our own.
func (d *Dialer) Name() string { return "http1" }

// NewConn returns a closed connection, which opens at its first use.
func (d *Dialer) NewConn() *Conn {
	c := &Conn{dialer: d}
	c.drain = c.readable
	return c
}

// Do sends a request once and reads the whole response. It opens the connection
// if there is none. The error is an *Error, or ErrCut after Interrupt.
func (c *Conn) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	now := time.Now()
	if err := c.ready(ctx, now, deadline); err != nil {
		return Response{}, c.failed(err)
	}
	if !c.arm(now, deadline) {
		return Response{}, c.failed(ErrCut)
	}
	c.used = now
	if err := c.write(r, deadline); err != nil {
		return Response{}, c.failed(&Error{Phase: Writing, Err: err})
	}
	c.intake.begin(r)
	if err := c.read(deadline); err != nil {
		return Response{}, c.failed(&Error{Phase: Reading, Err: err})
	}
	if !c.intake.reusable() {
		c.Close()
	}
	return c.intake.parser.response(), nil
}

func (c *Conn) write(r *Request, deadline time.Time) error {
	buffer := buffers.Get().(*buffer)
	defer buffers.Put(buffer)
	buffer.out = r.appendTo(buffer.out[:0], c.dialer.host, c.dialer.agent)
	rest := buffer.out
	for {
		n, err := c.net.Write(rest)
		if rest = rest[n:]; err == nil || !c.rearm(err, deadline) {
			return err
		}
	}
}

// read reads one whole response, after any interim ones.
func (c *Conn) read(deadline time.Time) error {
	for {
		err := c.readOnce()
		if err == nil || !c.rearm(err, deadline) {
			return err
		}
	}
}

func (c *Conn) readOnce() error {
	if c.raw == nil {
		return c.readSecured()
	}
	if err := c.raw.Read(c.drain); err != nil {
		return err
	}
	return c.err
}

// readable reads what is there. It returns false to be called again when there
// is more.
func (c *Conn) readable(fd uintptr) bool {
	buffer := buffers.Get().(*buffer)
	defer buffers.Put(buffer)
	for {
		n, err := readFD(fd, buffer.in[:])
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		// A read that did not fill the buffer is followed by another all the same:
		// the end of the connection may have come with the bytes, and would not
		// be told of twice.
		if c.err = c.feed(buffer.in[:n], err); c.err != nil || c.intake.parser.done() {
			return true
		}
	}
}

// securedBuffer is the size of reads of a TLS connection, which has buffers of
// many times that.
const securedBuffer = 4 << 10

func (c *Conn) readSecured() error {
	for {
		n, err := c.net.Read(c.secured)
		if n > 0 || errors.Is(err, io.EOF) {
			err = nil // an error that came with bytes comes again
		}
		if err := c.feed(c.secured[:n], err); err != nil || c.intake.parser.done() {
			return err
		}
	}
}

func (c *Conn) feed(in []byte, err error) error {
	if err != nil {
		return err
	}
	return c.intake.feed(in)
}

// Alive says whether the connection is open, here and on the other side.
func (c *Conn) Alive() bool { return c.net != nil && alive(c.net) }

// IsOpen says whether the connection is open here; the other side may have
// closed it.
func (c *Conn) IsOpen() bool { return c.net != nil }

// Open opens the connection unless it is open and alive.
func (c *Conn) Open(ctx context.Context, deadline time.Time) error {
	if err := c.ready(ctx, time.Now(), deadline); err != nil {
		return c.failed(err)
	}
	return nil
}

// ready leaves an open connection, a new one if the old was closed by the
// server while it idled.
func (c *Conn) ready(ctx context.Context, now, deadline time.Time) error {
	if c.net != nil {
		if now.Sub(c.used) < lookAfter {
			return nil
		}
		if alive(c.net) {
			c.used = now // as good as used: no need to look again at once
			return nil
		}
		c.Close()
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := c.dialer.dial(ctx)
	if err != nil {
		return err
	}
	c.dialer.opened.Add(1)
	c.adopt(conn)
	return nil
}

// adopt makes conn the open connection.
func (c *Conn) adopt(conn net.Conn) {
	c.net, c.raw, c.used = conn, nil, time.Now()
	if _, secured := conn.(*tls.Conn); !secured {
		c.raw = rawConn(conn)
	}
	if c.raw == nil && c.secured == nil {
		c.secured = make([]byte, securedBuffer)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared, c.armed = conn, time.Time{}
}

// arm sees to it that the socket has a deadline to come, unless it is cut.
func (c *Conn) arm(now, deadline time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return false
	}
	// A write of TLS that was stopped by a deadline cannot go on.
	if c.raw != nil && c.armed.After(now) && !c.armed.After(deadline) {
		return true
	}
	c.armed = deadline
	// A failure to set it shows at once in writing or reading.
	_ = c.shared.SetDeadline(deadline)
	return true
}

// rearm says whether an error was only that of a deadline set earlier, and sets
// the request's own.
func (c *Conn) rearm(err error, deadline time.Time) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	now := time.Now()
	return now.Before(deadline) && c.arm(now, deadline)
}

// Interrupt ends the request that is under way, and all later ones, until
// Resume. Dialling is ended by its context.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut, c.armed = true, time.Time{}
	if c.shared != nil {
		_ = c.shared.SetDeadline(time.Unix(1, 0))
	}
}

// Resume permits requests again. It must not be called during one.
func (c *Conn) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}

// failed closes the connection, which is in an unknown state, and says whether
// the failure is really a cut.
func (c *Conn) failed(err error) error {
	c.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return ErrCut
	}
	return err
}

// Close closes the connection; the next request opens another.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.net != nil {
		_ = c.net.Close()
	}
	c.net, c.raw, c.shared, c.intake.held = nil, nil, nil, nil
}

// buffer is what bytes pass through on their way.
type buffer struct {
	out []byte
	// in holds a usual response whole, and a large one in few pieces.
	in [32 << 10]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}
