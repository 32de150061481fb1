package http1

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// checkAfter is how long a connection may idle before it is checked: a server that
// closes idle connections waits longer, and the check costs a system call.
const checkAfter = 5 * time.Millisecond

// Conn is one persistent connection for a goroutine, opened again when it is lost.
// It holds a buffer only while there are bytes to move.
type Conn struct {
	socket.Interruptible
	client  *Client
	session *dial.Session // of its connections, one after the other; nil: none
	net     net.Conn      // nil: closed
	// raw reads from the socket once it is readable; nil: through net, which is TLS.
	raw        syscall.RawConn
	onReadable func(fd uintptr) bool // transfer, bound once to save an allocation
	secured    []byte                // the buffer for reads of TLS; nil: it has read nothing
	used       time.Time             // when the last request was sent
	carried    bool                  // a request, since it was opened

	request  *transport.Request // to be sent
	rest     []byte             // of the request: what the socket had no room for
	sending  *sending           // of the rest; nil: there is none
	response responseReader
	err      error // of transfer
}

var _ transport.Conn = (*Conn)(nil)

// Do sends a request once and reads the whole response. It opens the connection
// if there is none. The error is a *failure.Error, or failure.ErrInterrupted after
// Interrupt.
func (c *Conn) Do(ctx context.Context, r *transport.Request, deadline time.Time) (transport.Response, error) {
	now := time.Now()
	if err := c.ensureOpen(ctx, now, deadline); err != nil {
		return transport.Response{}, c.failed(err)
	}
	if !c.setDeadline(now, deadline) {
		return transport.Response{}, c.failed(failure.ErrInterrupted)
	}
	reused := c.carried
	c.used, c.carried = now, true
	c.response.begin(r)
	c.response.beginStream(r, deadline.Sub(now))
	err := c.exchange(r, deadline)
	events := c.response.parser.events
	switch {
	case err == nil && c.response.reusable():
	case err == nil:
		c.Close()
	case events.Streamed().Left, events.Broken(err):
		_ = c.failed(err) // the connection; the request has succeeded
	default:
		c.response.parser.body.Free()
		return transport.Response{Reused: reused, Streamed: events.Streamed()}, c.failed(err)
	}
	response := c.response.parser.response()
	response.Reused, response.Streamed, response.EventData = reused, events.Streamed(), events.Data()
	return response, nil
}

// Alive checks that the connection is open, here and on the other side.
func (c *Conn) Alive() bool { return c.net != nil && socket.Alive(c.net) }

// IsOpen reports whether the connection is open here; the other side may have
// closed it.
func (c *Conn) IsOpen() bool { return c.net != nil }

// Open opens the connection unless it is open and alive.
func (c *Conn) Open(ctx context.Context, deadline time.Time) error {
	if err := c.ensureOpen(ctx, time.Now(), deadline); err != nil {
		return c.failed(err)
	}
	return nil
}

// ensureOpen opens the connection if it is closed, or if the server closed it while
// it idled.
func (c *Conn) ensureOpen(ctx context.Context, now, deadline time.Time) error {
	if c.net != nil {
		if now.Sub(c.used) < checkAfter {
			return nil
		}
		if socket.Alive(c.net) {
			c.used = now // as good as used: the next check can wait
			return nil
		}
		c.Close()
	}
	ctx, cancel := socket.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := c.client.Open(dial.Resuming(ctx, c.session))
	if err == nil {
		c.adopt(conn)
	}
	return err
}

// adopt makes conn the open connection.
func (c *Conn) adopt(conn net.Conn) {
	c.net, c.raw, c.used, c.carried = conn, nil, time.Now(), false
	if _, secured := conn.(*tls.Conn); !secured {
		c.raw = socket.RawConn(conn)
	}
	c.Share(conn)
}

// release closes the connection but for its socket, which it returns; nil: it was closed.
func (c *Conn) release() net.Conn {
	conn := c.net
	c.net = nil
	c.Close()
	return conn
}

// setDeadline ensures that the socket has a deadline in the future, unless the
// connection is interrupted. It may be before that of the request: it is then set again
// when it passes, once in many requests.
func (c *Conn) setDeadline(now, deadline time.Time) bool {
	if c.raw == nil { // TLS gets the request's own: a write of TLS that a deadline stopped cannot go on
		if c.sending != nil { // it has that of the request; that of a stream is of what is read
			return c.SetReadDeadline(deadline)
		}
		return c.SetDeadline(deadline)
	}
	return c.EnsureDeadline(now, deadline)
}

// limit is the instant until which the response is awaited: the deadline of the request, but of a stream.
func (c *Conn) limit(deadline time.Time) time.Time {
	if s := c.response.parser.events; s != nil {
		return c.used.Add(s.Limit())
	}
	return deadline
}

// passed is the error of a request whose limit has passed, or whose connection has failed.
func (c *Conn) passed(err error) error {
	if s := c.response.parser.events; s != nil && errors.Is(err, os.ErrDeadlineExceeded) && !c.IsInterrupted() {
		err = cmp.Or(s.Passed(), err)
	}
	return &failure.Error{Phase: failure.Reading, Err: err}
}

// extendDeadline reports whether an error was only that of a deadline set earlier,
// and sets the request's own.
func (c *Conn) extendDeadline(err error, deadline time.Time) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	now := time.Now()
	return now.Before(deadline) && c.setDeadline(now, deadline)
}

// failed closes the connection, which is in an unknown state, and returns the error
// of the request: ErrInterrupted if that is the cause.
func (c *Conn) failed(err error) error {
	socket.Break(c.net)
	c.Close()
	return c.Interruption(err)
}

// Close closes the connection; the next request opens another.
func (c *Conn) Close() {
	c.Unshare(c.net)
	c.net, c.raw, c.response.held = nil, nil, nil
}
