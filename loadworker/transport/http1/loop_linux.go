package http1

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
)

// Loop drives many connections from one goroutine. Only Wake may be called from others.
// All times are since the loop's start.
type Loop struct {
	*loop.Loop
	client *Client
	onDone func(*LoopConn, transport.Response, error)
	out    []byte // a request that is being sent
}

// NewLoop returns a loop that calls onDone, from Send or Wait, with the result of
// each request. It fails where there can be none: on a kernel before 5.11.
func (c *Client) NewLoop(start time.Time, onDone func(*LoopConn, transport.Response, error)) (*Loop, error) {
	events, err := loop.New(start, c.Open)
	if err != nil {
		return nil, err
	}
	return &Loop{Loop: events, client: c, onDone: onDone}, nil
}

// LoopConn is a connection of a Loop. The zero value is closed.
type LoopConn struct {
	// Tag is the caller's; the loop does not use it.
	Tag int

	loop     *Loop
	session  *dial.Session // as of the Conn that was added
	conn     loop.Conn
	inFlight bool   // a request is under way
	carried  bool   // a request, since it was opened
	reused   bool   // by the request that is under way
	reads    int    // of its response
	unsent   []byte // a request that waits for the connection to be opened
	response responseReader
	deadline loop.Deadline // of the response
	until    time.Duration // the deadline while the connection is being opened
}

var (
	_ loop.Protocol = (*LoopConn)(nil)
	_ loop.Waiter   = (*LoopConn)(nil)
)

// IsOpen reports whether the connection is open as far as the loop has read.
func (c *LoopConn) IsOpen() bool { return c.conn.IsOpen() }

// Add adds a connection, with the socket of from if that is open. from is then
// closed.
func (l *Loop) Add(c *LoopConn, from *Conn) {
	c.loop, c.session = l, from.session
	l.Loop.Add(&c.conn, c)
	if conn := from.release(); conn != nil {
		_ = c.conn.Adopt(conn) // if this fails, the first request opens it again
		c.carried = from.carried
	}
}

// Return gives an idle socket back to a Conn.
func (l *Loop) Return(c *LoopConn, to *Conn) {
	if !c.conn.IsOpen() || c.inFlight {
		return
	}
	if conn, err := c.conn.Release(); err == nil { // if this fails, its next request opens it again
		to.adopt(conn)
		to.carried = c.carried
	}
}

// Send sends a request, before a deadline, on a connection that has none in flight.
func (l *Loop) Send(ctx context.Context, c *LoopConn, r *transport.Request, deadline time.Duration) {
	c.inFlight, c.until = true, deadline
	c.response.begin(r)
	c.response.beginStream(r, deadline)
	l.out = AppendRequest(l.out[:0], r, l.client.host, l.client.agent)
	if !c.conn.IsOpen() {
		c.unsent = append(c.unsent, l.out...)
		c.conn.Dial(dial.Resuming(ctx, c.session), deadline)
		return
	}
	c.begin(l.out)
}

// begin begins to write a request.
func (c *LoopConn) begin(b []byte) {
	c.reused, c.carried, c.reads = c.carried, true, 0
	c.conn.Await(&c.deadline, c, c.until)
	c.conn.Write(b)
}

// Opened sends the request that the connection was dialled for.
func (c *LoopConn) Opened(err error) {
	unsent := c.unsent
	c.unsent, c.carried = nil, false
	if err != nil {
		c.end(transport.Response{}, err)
		return
	}
	c.begin(unsent)
}

// Receive reads a response. Without a request, it closes the connection: the other side
// has, or its bytes answer nothing.
func (c *LoopConn) Receive(in []byte, waited time.Duration, closing bool) (more bool) {
	if !c.inFlight {
		c.conn.Close()
		return false
	}
	c.reads++
	err := c.response.feed(in)
	if s := c.response.parser.events; s != nil && c.response.tell(waited) {
		s.At(c.loop.Elapsed())
		c.loop.Move(&c.deadline, s.Limit())
	}
	if err != nil {
		c.fail(failure.Reading, err)
		return false
	}
	if !c.response.parser.done() {
		return closing // else what comes next, or the end, is an event: a stream of events is read once for each
	}
	if closing || c.conn.Unwritten() || !c.response.reusable() {
		c.conn.Close()
	}
	r := c.response.parser.response()
	r.Waited, r.WaitSampled = waited, c.conn.Sampled()
	r.WaitExact, r.InOneRead = waited > 0 && !c.conn.Secured(), c.reads == 1
	c.end(r, nil)
	return false
}

// Failed ends the request that is under way.
func (c *LoopConn) Failed(err *failure.Error) {
	if c.inFlight {
		c.broken(err)
	}
}

// GiveUp ends the request that is under way.
func (c *LoopConn) GiveUp(err error) {
	if s := c.response.parser.events; s != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		if err = s.Passed(); err == nil {
			c.conn.Close()
			c.end(c.response.parser.response(), nil)
			return
		}
	}
	phase := failure.Reading
	if c.conn.Unwritten() && !errors.Is(err, failure.ErrStalled) {
		phase = failure.Writing
	}
	c.fail(phase, err)
}

// fail ends a request whose connection is in an unknown state.
func (c *LoopConn) fail(phase failure.Phase, err error) {
	c.conn.Close()
	c.broken(&failure.Error{Phase: phase, Err: err})
}

// broken ends a request whose connection is closed. It has succeeded all the same if the last event of a
// stream had come.
func (c *LoopConn) broken(err error) {
	if c.response.parser.events.Broken(err) {
		c.end(c.response.parser.response(), nil)
		return
	}
	c.end(transport.Response{}, err)
}

func (c *LoopConn) end(r transport.Response, err error) {
	if err != nil {
		c.response.parser.body.Free()
	}
	if err != nil && c.loop.Interrupted() {
		err = failure.ErrInterrupted
	}
	c.loop.Answered(&c.deadline)
	events := c.response.parser.events
	r.Reused, r.Streamed, r.EventData = c.reused, events.Streamed(), events.Data()
	c.inFlight, c.reused, c.response.held = false, false, nil
	c.loop.onDone(c, r, err)
}
