package nethttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// conn is one connection of net/http, opened again when it is lost.
type conn struct {
	client *Client
	conn   *http.ClientConn // nil: closed
	socket *errorRecorder   // of the last conn
	kept   transport.Body
	// session is that of its connections, one after the other.
	session *dial.Session
	// carried is whether conn has carried a request.
	carried bool

	mu          sync.Mutex
	interrupted bool
	cancel      context.CancelFunc // of the request that is under way; nil: none
}

var _ transport.Conn = (*conn)(nil)

// Do sends a request once and reads the whole response.
func (c *conn) Do(ctx context.Context, r *transport.Request, deadline time.Time) (transport.Response, error) {
	ctx, cancel := socket.WithDeadline(ctx, deadline)
	defer cancel()
	if !c.setCancel(cancel) {
		return transport.Response{}, failure.ErrInterrupted
	}
	defer c.setCancel(nil)
	if err := c.ensureOpen(ctx); err != nil {
		return transport.Response{}, c.failed(err)
	}
	out := transport.Response{Reused: c.carried}
	c.carried = true
	s := newStream(r, deadline, cancel)
	response, err := c.conn.RoundTrip(c.request(ctx, r))
	if err != nil {
		return out, c.failed(err)
	}
	out.Status = response.StatusCode
	if out.Status < measure.MinStatus || out.Status > measure.MaxStatus { // net/http takes any
		_ = response.Body.Close() // it is not read
		return transport.Response{Reused: out.Reused}, c.failed(transport.ErrStatus)
	}
	if out.Status == http.StatusSwitchingProtocols {
		c.Close() // what follows is no HTTP
		return out, nil
	}
	if r.KeepCookies {
		for _, value := range response.Header["Set-Cookie"] {
			out.SetCookies = transport.AppendCookie(out.SetCookies, []byte(value))
		}
	}
	for _, name := range r.KeepFields {
		for _, value := range response.Header[name] {
			out.Fields = transport.AppendField(out.Fields, r.KeepFields, name, value)
		}
	}
	c.kept.Free() // to the budget that it was taken from
	c.kept.Budget = r.Budget
	out.Size, err = c.read(response, r.Keep, s)
	_ = response.Body.Close() // it was read to its end, or failed
	// net/http still reads from a connection that it is closing. A target that
	// notices, as over TLS, may answer then.
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = c.failed(err)
	}
	if out.Streamed, err = s.outcome(ctx, err); err != nil {
		c.kept.Free()
		return transport.Response{Reused: out.Reused, Streamed: out.Streamed}, err
	}
	out = c.kept.In(out)
	out.EventData = s.data()
	if response.Close {
		c.Close()
	}
	return out, nil
}

// setCancel sets what interrupts the request, nil after its end. It returns false
// if the connection was interrupted.
func (c *conn) setCancel(cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	return !c.interrupted
}

// Open opens the connection unless it is open.
func (c *conn) Open(ctx context.Context, deadline time.Time) error {
	ctx, cancel := socket.WithDeadline(ctx, deadline)
	defer cancel()
	if err := c.ensureOpen(ctx); err != nil {
		return c.failed(err)
	}
	return nil
}

func (c *conn) ensureOpen(ctx context.Context) error {
	if c.IsOpen() {
		return nil
	}
	c.Close()
	target := c.client.target
	c.socket = &errorRecorder{}
	conn, err := c.client.transport.NewClientConn(dial.Resuming(c.socket.into(ctx), c.session), target.Scheme(), target.Address())
	if err != nil {
		return err
	}
	c.client.opened.Add(1)
	c.conn, c.carried = conn, false
	return nil
}

// request returns the request in the form of net/http.
func (c *conn) request(ctx context.Context, r *transport.Request) *http.Request {
	out := (&http.Request{
		Method: r.Method, Host: c.client.target.Host, Header: c.client.header(r), URL: c.client.url(r),
	}).WithContext(ctx)
	// To a proxy, Host is not replaced: one that follows it, not the URL, would reach
	// targets that are not permitted.
	if len(r.Host) > 0 && !c.client.absolute {
		out.Host = string(r.Host)
	}
	if len(r.Body) > 0 {
		// A copy: net/http may go on reading the body after it returned the response, and
		// the next request is written into r.
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(bytes.Clone(r.Body))), int64(len(r.Body))
	}
	return out
}

// chunks are buffers that bodies are read through.
var chunks = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// read reads the body of a response to its end and keeps its beginning.
func (c *conn) read(response *http.Response, keep int, s *stream) (size int64, err error) {
	if err := s.header(response); err != nil {
		return 0, err
	}
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	c.kept.Begin(keep)
	for {
		n, err := response.Body.Read(chunk[:])
		size += int64(n)
		c.kept.Append(chunk[:n])
		s.read(chunk[:n], errors.Is(err, io.EOF))
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}

// IsOpen reports whether the connection is open. net/http reads all the time, and so
// has the error at once when the other side closes it.
func (c *conn) IsOpen() bool { return c.conn != nil && c.conn.Err() == nil }

// Alive is IsOpen.
func (c *conn) Alive() bool { return c.IsOpen() }

// Interrupt ends the request that is under way, and all later ones, until Resume.
func (c *conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Resume permits requests again.
func (c *conn) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = false
}

// Close closes the connection; the next request opens another.
func (c *conn) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.conn = nil
}

// failed returns the failure of a request. A connection of HTTP/1.1 is in an unknown
// state after that and is closed; of one of HTTP/2, only the stream is.
func (c *conn) failed(err error) error {
	if c.conn != nil && (!c.client.target.HTTP2 || c.conn.Err() != nil) {
		c.Close()
	}
	c.mu.Lock()
	interrupted := c.interrupted
	c.mu.Unlock()
	var known *failure.Error
	switch {
	case interrupted:
		return failure.ErrInterrupted
	case errors.As(err, &known):
		return err // of the dialer
	default:
		return &failure.Error{Phase: failure.Reading, Err: causeOf(err, c.socket)}
	}
}
