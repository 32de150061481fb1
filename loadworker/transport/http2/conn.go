package http2

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/event"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Conn is one persistent connection for a goroutine, opened again when it is lost. It
// carries one request at a time.
type Conn struct {
	socket.Interruptible
	client  *Client
	session *dial.Session // of its connections, one after the other; nil: none
	net     net.Conn      // nil: closed
	mux     *Mux
	carried bool // a request, since it was opened
	stream  Stream
	began   time.Time // the request
	done    bool
	err     error // of the request that is done
}

var (
	_ transport.Conn = (*Conn)(nil)
	_ owner          = (*Conn)(nil)
)

// buffers are what is read into.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// bufferSize is that of reads: a connection has a buffer as long as it waits for a response.
const bufferSize = 4 << 10

// Do sends a request once and reads the whole response.
func (c *Conn) Do(ctx context.Context, r *transport.Request, deadline time.Time) (transport.Response, error) {
	if r.Err != nil {
		return transport.Response{}, r.Err
	}
	if err := c.ensureOpen(ctx, deadline); err != nil {
		return transport.Response{}, c.failed(err)
	}
	if !c.SetDeadline(deadline) {
		return transport.Response{}, c.failed(failure.ErrInterrupted)
	}
	reused := c.carried
	out := transport.Response{Reused: reused}
	c.carried, c.done, c.began = true, false, time.Now()
	c.mux.Send(&c.stream, r, c)
	c.stream.beginStream(r, deadline.Sub(c.began))
	events := c.stream.events
	if err := c.exchange(func() bool { return c.done }, events); err != nil {
		if !c.done && !events.Broken(err) {
			out.Streamed = events.Streamed()
			return out, c.failed(err)
		}
		c.mux.End(err) // it came after the response: it ends the connection, and not the request
	}
	out.Streamed = events.Streamed()
	if c.err != nil {
		c.closeUnlessUsable()
		return out, c.Interruption(inPhase(failure.Reading, c.err))
	}
	out = c.stream.Response()
	out.Reused, out.Streamed, out.EventData = reused, events.Streamed(), events.Data()
	c.closeUnlessUsable()
	return out, nil
}

// ended notes the outcome of the request.
func (c *Conn) ended(_ *Stream, err error) { c.done, c.err = true, err }

// came tells of the events of what was read.
func (c *Conn) came(st *Stream) {
	if s := st.events; s.Tell(0) && s.At(time.Since(c.began)) {
		c.SetDeadline(c.began.Add(s.Limit())) // if this fails, so does the next read
	}
}

// leaveFor is the time to write that a stream was given up.
const leaveFor = 10 * time.Millisecond

// goesOn reports whether a connection goes on after a deadline: the events of a stream have moved it, or
// end the stream alone.
func (c *Conn) goesOn(s *event.Reader, err error) bool {
	if s == nil || c.done || !errors.Is(err, os.ErrDeadlineExceeded) || c.IsInterrupted() {
		return false
	}
	now := time.Now()
	if limit := c.began.Add(s.Limit()); now.Before(limit) {
		return c.SetDeadline(limit)
	}
	switch why := s.Passed(); {
	case errors.Is(why, os.ErrDeadlineExceeded):
		return false
	case why != nil:
		c.mux.Cancel(&c.stream)
		c.ended(&c.stream, why)
	default:
		c.mux.Leave(&c.stream)
		c.ended(&c.stream, nil)
	}
	return c.SetDeadline(now.Add(leaveFor))
}

// exchange writes and reads until it is done, or until a stream of events is given up. An error is of the
// connection.
func (c *Conn) exchange(done func() bool, s *event.Reader) error {
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	var response socket.LateReader
	for {
		if err := c.flush(); err != nil {
			return err
		}
		if done() {
			return nil
		}
		n, err := response.Read(c.net, buffer[:], c.SetDeadline)
		if n > 0 {
			err = c.mux.Feed(buffer[:n]) // an error that came with bytes comes again
			if err != nil {
				_ = c.flush() // a GOAWAY, after which the connection is closed
			}
		} else if errors.Is(err, io.EOF) {
			c.mux.End(nil)
			return inPhase(failure.Reading, cmp.Or(c.err, io.ErrUnexpectedEOF))
		}
		switch {
		case err == nil:
		case c.goesOn(s, err):
			response = socket.LateReader{}
		default:
			return inPhase(failure.Reading, err)
		}
	}
}

// flush writes what is to be written.
func (c *Conn) flush() error {
	if len(c.mux.Output()) == 0 {
		return nil
	}
	if _, err := c.net.Write(c.mux.Output()); err != nil {
		return inPhase(failure.Writing, err)
	}
	c.mux.Wrote(true)
	return nil
}

// inPhase is an error with its phase, if it has none.
func inPhase(p failure.Phase, err error) error {
	var known *failure.Error
	if errors.As(err, &known) {
		return err
	}
	return &failure.Error{Phase: p, Err: err}
}

// IsOpen reports whether the connection is open as far as is known here.
func (c *Conn) IsOpen() bool { return c.net != nil }

// Open opens the connection unless it is open and alive. It exchanges settings with the
// server, which closes a connection without any after some seconds.
func (c *Conn) Open(ctx context.Context, deadline time.Time) error {
	if err := c.ensureOpen(ctx, deadline); err != nil {
		return c.failed(err)
	}
	if !c.SetDeadline(deadline) {
		return c.failed(failure.ErrInterrupted)
	}
	conn, ended := c.net, make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // as it ends dialling
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(ended)
	})
	c.err = nil
	goOn := dial.Waiting(ctx)
	err := c.exchange(c.mux.Settled, nil)
	goOn()
	if !stop() {
		<-ended
		err = failure.ErrInterrupted
	}
	if err != nil {
		return c.failed(err)
	}
	return nil
}

func (c *Conn) ensureOpen(ctx context.Context, deadline time.Time) error {
	if c.Alive() {
		return nil
	}
	c.Close()
	ctx, cancel := socket.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := c.client.Open(dial.Resuming(ctx, c.session))
	if err == nil {
		c.adopt(conn, NewMux(c.client.origin), false)
	}
	return err
}

// adopt makes conn the open connection.
func (c *Conn) adopt(conn net.Conn, m *Mux, carried bool) {
	c.net, c.mux, c.carried = conn, m, carried
	c.Share(conn)
}

// release closes the connection but for its socket, which it returns; nil: it was closed.
func (c *Conn) release() (net.Conn, *Mux) {
	conn, m := c.net, c.mux
	c.net = nil
	c.Close()
	return conn, m
}

// Alive checks that the connection is open, here and on the other side. It takes what the
// server has sent meanwhile.
func (c *Conn) Alive() bool {
	return c.net != nil && c.catchUp() == nil && c.mux.Usable()
}

// catchUpFor is the wait for the rest of what has begun to come.
const catchUpFor = time.Millisecond

// catchUp takes what the server sent while the connection was idle, such as a GOAWAY.
func (c *Conn) catchUp() error {
	plain := c.net
	if secured, ok := plain.(*tls.Conn); ok {
		plain = secured.NetConn()
	}
	if socket.Alive(plain) {
		return nil // nothing has come
	}
	if err := c.net.SetDeadline(time.Now().Add(catchUpFor)); err != nil {
		return err
	}
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	n, err := c.net.Read(buffer[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if err := c.mux.Feed(buffer[:n]); err != nil {
		return err
	}
	return c.flush()
}

// failed closes the connection, and returns the error of the request.
func (c *Conn) failed(err error) error {
	socket.Break(c.net)
	c.Close()
	return c.Interruption(err)
}

func (c *Conn) closeUnlessUsable() {
	if !c.mux.Usable() {
		c.Close()
	}
}

// Close closes the connection; the next request opens another.
func (c *Conn) Close() {
	c.Unshare(c.net)
	c.net, c.mux = nil, nil
}
