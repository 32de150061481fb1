package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
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
	carried bool                  // a request, since it was opened

	request *Request // to be sent
	rest    []byte   // of the request, when there was no room for it
	intake  intake
	err     error // of drain

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
	c.drain = c.turn
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
	reused := c.carried
	c.used, c.carried = now, true
	c.intake.begin(r)
	if err := c.exchange(r, deadline); err != nil {
		return Response{Reused: reused}, c.failed(err)
	}
	if !c.intake.reusable() {
		c.Close()
	}
	response := c.intake.parser.response()
	response.Reused = reused
	return response, nil
}

// exchange sends a request and reads the response.
func (c *Conn) exchange(r *Request, deadline time.Time) error {
	if c.raw == nil {
		return c.exchangeSecured(r)
	}
	c.request, c.rest = r, nil
	for {
		// What drain finds is in c.err; what the runtime finds, a deadline, is not.
		err := c.raw.Read(c.drain)
		switch {
		case err == nil && len(c.rest) > 0:
			if err := c.writeRest(deadline); err != nil {
				return &Error{Phase: Writing, Err: err}
			}
		case err == nil:
			return c.err
		case !c.rearm(err, deadline):
			return &Error{Phase: Reading, Err: err}
		}
	}
}

// turn sends the request, then reads what is there; it returns false to be
// called again when there is more. It sends within the wait for the response,
// which so cannot be missed: to look for one that cannot have come yet would
// cost a system call.
func (c *Conn) turn(fd uintptr) bool {
	buffer := buffers.Get().(*buffer)
	defer buffers.Put(buffer)
	if r := c.request; r != nil {
		c.request = nil
		buffer.out = r.appendTo(buffer.out[:0], c.dialer.host, c.dialer.agent)
		return !c.sent(buffer.out, int32(fd))
	}
	for {
		n, errno := readNow(int32(fd), buffer.in[:])
		if errno == syscall.EAGAIN {
			return false
		}
		// A read that did not fill the buffer is followed by another all the same:
		// the end of the connection may have come with the bytes, and would not
		// be told of twice.
		c.err = nil
		if errno != 0 {
			c.err = &Error{Phase: Reading, Err: errno}
		} else if err := c.intake.feed(buffer.in[:n]); err != nil {
			c.err = &Error{Phase: Reading, Err: err}
		}
		if c.err != nil || c.intake.parser.done() {
			return true
		}
	}
}

// sent says that all of a request was sent; if not, c.err says why, or there is
// a rest.
func (c *Conn) sent(out []byte, fd int32) bool {
	n, errno := writeNow(fd, out)
	if errno != 0 && errno != syscall.EAGAIN {
		c.err = &Error{Phase: Writing, Err: errno}
		return false
	}
	if n < len(out) {
		c.rest = slices.Clone(out[n:])
		return false
	}
	return true
}

// writeRest writes the rest of a large request, as there is room.
func (c *Conn) writeRest(deadline time.Time) error {
	for {
		n, err := c.net.Write(c.rest)
		if c.rest = c.rest[n:]; err == nil || !c.rearm(err, deadline) {
			c.rest = nil
			return err
		}
	}
}

// securedBuffer is the size of reads of a TLS connection, which has buffers of
// many times that.
const securedBuffer = 4 << 10

func (c *Conn) exchangeSecured(r *Request) error {
	if _, err := c.net.Write(r.appendTo(nil, c.dialer.host, c.dialer.agent)); err != nil {
		return &Error{Phase: Writing, Err: err}
	}
	for {
		n, err := c.net.Read(c.secured)
		if n > 0 || errors.Is(err, io.EOF) {
			err = c.intake.feed(c.secured[:n]) // an error that came with bytes comes again
		}
		if err != nil {
			return &Error{Phase: Reading, Err: err}
		}
		if c.intake.parser.done() {
			return nil
		}
	}
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
	c.net, c.raw, c.used, c.carried = conn, nil, time.Now(), false
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
	if secured, ok := c.net.(*tls.Conn); ok {
		// TLS says goodbye, for which it waits for seconds if there is no room.
		_ = secured.NetConn().Close()
	}
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
