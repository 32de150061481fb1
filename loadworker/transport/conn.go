package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// bufferSize holds the header and body of a usual response; larger bodies
	// are read through it. It is most of what an idle user costs.
	bufferSize = 2 << 10
	// maxHeader bounds a response header, as the memory of 10,000 users must be.
	maxHeader = 1 << 20
	// lookAfter is how long a connection may idle before it is looked at: a
	// server that closes idle connections waits longer, and the look costs a
	// system call.
	lookAfter = 5 * time.Millisecond
)

// Conn is one persistent connection, opened again when it is lost. One request
// at a time; only Interrupt may be called meanwhile.
type Conn struct {
	dialer *Dialer
	reader *bufio.Reader
	source source
	out    []byte
	used   time.Time // when the last response was whole

	mu  sync.Mutex
	net net.Conn // nil: closed
	cut bool
}

// NewConn returns a closed connection, which opens at its first use.
func (d *Dialer) NewConn() *Conn { return &Conn{dialer: d} }

// source bounds what is read of a header, and remembers why reading ended.
type source struct {
	net  net.Conn
	left int64
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errHeaderTooLarge
	}
	n, err := s.net.Read(p)
	s.left -= int64(n)
	s.err = err
	return n, err
}

// cause is why a response could not be read. The parser calls a response that
// breaks off malformed; what ended the reading is nearer to the truth.
func (s *source) cause(err error) error {
	switch s.err {
	case nil:
		return err
	case io.EOF:
		return io.ErrUnexpectedEOF
	default:
		return s.err
	}
}

// Do sends a request once and reads the whole response. It opens the connection
// if there is none. The error is an *Error, or ErrCut after Interrupt.
func (c *Conn) Do(ctx context.Context, r *Request, deadline time.Time) (status int, err error) {
	if err := c.ready(ctx, deadline); err != nil {
		return 0, c.failed(err)
	}
	if !c.arm(deadline) {
		return 0, c.failed(ErrCut)
	}
	c.out = r.appendTo(c.out[:0], c.dialer.host, c.dialer.agent)
	if _, err := c.source.net.Write(c.out); err != nil {
		return 0, c.failed(&Error{Phase: Writing, Err: err})
	}
	status, keep, err := c.read(r.Method)
	if err != nil {
		return 0, c.failed(&Error{Phase: Reading, Err: c.source.cause(err)})
	}
	if !keep {
		c.Close()
		return status, nil
	}
	c.used = time.Now()
	return status, nil
}

// Alive says whether the connection is open, here and on the other side.
func (c *Conn) Alive() bool { return c.source.net != nil && alive(c.source.net) }

// IsOpen says whether the connection is open here; the other side may have
// closed it.
func (c *Conn) IsOpen() bool { return c.source.net != nil }

// Open opens the connection unless it is open and alive.
func (c *Conn) Open(ctx context.Context, deadline time.Time) error {
	if err := c.ready(ctx, deadline); err != nil {
		return c.failed(err)
	}
	return nil
}

// ready leaves an open connection, a new one if the old was closed by the
// server while it idled.
func (c *Conn) ready(ctx context.Context, deadline time.Time) error {
	if c.source.net != nil {
		now := time.Now()
		if now.Sub(c.used) < lookAfter {
			return nil
		}
		if alive(c.source.net) {
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
	c.source.net = conn
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(&c.source, bufferSize)
	} else {
		c.reader.Reset(&c.source)
	}
	c.used = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.net = conn
	return nil
}

// arm sets the deadline of a request, unless it is cut.
func (c *Conn) arm(deadline time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return false
	}
	// A failure to set it shows at once in writing or reading.
	_ = c.net.SetDeadline(deadline)
	return true
}

// Interrupt ends the request that is under way, and all later ones, until
// Resume. Dialling is ended by its context.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	if c.net != nil {
		_ = c.net.SetDeadline(time.Unix(1, 0))
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
	c.net, c.source.net = nil, nil
}

// asked are the requests that net/http's parser wants to see: it needs the
// method only, since a response to HEAD has no body.
var (
	askedHead = &http.Request{Method: http.MethodHead}
	askedGet  = &http.Request{Method: http.MethodGet}
)

// read reads one whole response, after any interim ones. keep says whether the
// connection can be used again.
func (c *Conn) read(method string) (status int, keep bool, err error) {
	asked := askedGet
	if method == http.MethodHead {
		asked = askedHead
	}
	c.source.left, c.source.err = maxHeader, nil
	resp, err := http.ReadResponse(c.reader, asked)
	for err == nil && interim(resp.StatusCode) {
		resp, err = http.ReadResponse(c.reader, asked)
	}
	if err != nil {
		return 0, false, err
	}
	if resp.StatusCode < 100 {
		return 0, false, errStatus
	}
	c.source.left = math.MaxInt64
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, false, err
	}
	// Bytes after the response belong to no request: what comes next on this
	// connection cannot be trusted.
	keep = !resp.Close && resp.StatusCode >= 200 && c.reader.Buffered() == 0
	return resp.StatusCode, keep, nil
}

// interim says whether another response follows. After 101 none does: the
// connection then speaks another protocol.
func interim(status int) bool {
	return status >= 100 && status < 200 && status != http.StatusSwitchingProtocols
}
