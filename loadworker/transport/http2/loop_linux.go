package http2

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

// Loop drives many connections, and the requests on each, from one goroutine. Only Wake may
// be called from others. All times are since the loop's start.
//
// What is sent on a connection while an event is handled is written once, after it.
type Loop struct {
	*loop.Loop
	client  *Client
	onDone  func(*LoopStream, transport.Response, error)
	unsent  []*LoopConn // that have something to write
	buffers [][]byte    // for what is written
}

const (
	// maxBuffers and maxBuffer bound the memory that is kept for what is written.
	maxBuffers = 64
	maxBuffer  = 64 << 10
)

// NewLoop returns a loop that calls onDone, from Send or Wait, with the result of each
// request. It fails where there can be none: on a kernel before 5.11.
func (c *Client) NewLoop(start time.Time, onDone func(*LoopStream, transport.Response, error)) (*Loop, error) {
	events, err := loop.New(start, c.Open)
	if err != nil {
		return nil, err
	}
	l := &Loop{Loop: events, client: c, onDone: onDone}
	events.Handled = l.flush
	return l, nil
}

// Wait waits until something happens, but not beyond an instant, and handles it.
func (l *Loop) Wait(until time.Duration) {
	l.flush()
	l.Loop.Wait(until)
}

// Interrupt ends all requests.
func (l *Loop) Interrupt() {
	l.Loop.Interrupt()
	l.flush()
}

// flush writes what is to be written.
func (l *Loop) flush() {
	for i := 0; i < len(l.unsent); i++ {
		l.unsent[i].flush()
	}
	l.unsent = l.unsent[:0]
}

// LoopStream is what a request goes through. It carries one at a time.
type LoopStream struct {
	// Tag is the caller's; the loop does not use it.
	Tag int

	stream   Stream
	conn     *LoopConn     // of the request that is under way
	deadline loop.Deadline // of the response
	until    time.Duration // the deadline while the connection is being opened
	reused   bool
}

// LoopConn is a connection of a Loop. The zero value is closed.
type LoopConn struct {
	loop    *Loop
	session *dial.Session // as of the Conn that was added
	conn    loop.Conn
	mux     *Mux        // nil: closed
	first   *LoopStream // the request that the connection is being opened for
	carried bool        // a request, since it was opened
	dirty   bool        // it is among those that have something to write
	waited  time.Duration
}

var (
	_ loop.LastReader = (*LoopConn)(nil)
	_ loop.Waiter     = (*LoopStream)(nil)
	_ owner           = (*LoopStream)(nil)
)

// IsOpen reports whether the connection is open, as far as the loop has read, and takes
// requests.
func (c *LoopConn) IsOpen() bool { return c.conn.IsOpen() && c.mux.Usable() }

// IsOpening reports whether it is being opened.
func (c *LoopConn) IsOpening() bool { return c.first != nil }

// IsClosed reports whether it is closed. One that is neither open nor closed takes no more
// requests, but has some in flight.
func (c *LoopConn) IsClosed() bool { return c.mux == nil }

// Room is how many more requests the server permits at once.
func (c *LoopConn) Room() int {
	if !c.conn.IsOpen() {
		return 0
	}
	return c.mux.Room()
}

// InFlight is how many requests are in flight.
func (c *LoopConn) InFlight() int {
	if c.mux == nil {
		return 0
	}
	return c.mux.InFlight()
}

// Add adds a connection, with the socket of from if that is open. from is then closed.
func (l *Loop) Add(c *LoopConn, from *Conn) {
	c.loop, c.session = l, from.session
	l.Loop.Add(&c.conn, c)
	carried := from.carried
	conn, mux := from.release()
	if conn == nil || c.conn.Adopt(conn) != nil { // if this fails, the first request opens it again
		return
	}
	c.mux, c.carried = mux, carried
	c.touch()
}

// Return gives the socket of an idle connection back to a Conn.
func (l *Loop) Return(c *LoopConn, to *Conn) {
	c.flush()
	if !c.IsOpen() || c.mux.InFlight() > 0 || c.conn.Unwritten() {
		return
	}
	if conn, err := c.conn.Release(); err == nil { // if this fails, its next request opens it again
		to.adopt(conn, c.mux, c.carried)
	}
}

// Send sends a request on a connection, before a deadline. It opens the connection if that
// is closed.
func (l *Loop) Send(ctx context.Context, st *LoopStream, c *LoopConn, r *transport.Request, deadline time.Duration) {
	st.conn, st.until = c, deadline
	if c.conn.IsOpen() {
		c.retire()
	}
	if !c.IsClosed() {
		c.lend()
		c.begin(st)
		c.mux.Send(&st.stream, r, st)
		st.stream.beginStream(r, deadline)
		c.touch()
		return
	}
	c.first, c.mux, c.carried = st, NewMux(l.client.origin), false
	c.mux.Send(&st.stream, r, st)
	st.stream.beginStream(r, deadline)
	c.conn.Dial(dial.Resuming(ctx, c.session), deadline)
}

func (c *LoopConn) begin(st *LoopStream) {
	st.reused, c.carried = c.carried, true
	c.conn.Await(&st.deadline, st, st.until)
}

// Opened sends the request that the connection was dialled for.
func (c *LoopConn) Opened(err error) {
	first := c.first
	c.first = nil
	if err != nil {
		c.lose(err)
		return
	}
	c.begin(first)
	c.touch()
}

// Receive takes what has come. The end of the connection is read for itself; other bytes
// cause an event of their own. While several requests are in flight, more responses may have
// come meanwhile: the requests that follow them are written together.
func (c *LoopConn) Receive(in []byte, waited time.Duration, closing bool) (more bool) {
	if len(in) == 0 {
		c.conn.Close()
		c.lose(nil)
		return false
	}
	c.waited = waited
	c.lend()
	err := c.mux.Feed(in)
	c.waited = 0
	c.touch()
	if err != nil {
		c.loop.flush() // it says why, and may close the connection
		if c.conn.IsOpen() {
			c.conn.Close()
			c.lose(&failure.Error{Phase: failure.Reading, Err: err})
		}
	}
	return c.conn.IsOpen() && (closing || c.mux.InFlight() > 1)
}

// Unwritable has the connection take no more requests. Those that the server answered, or refused, before it closed the
// connection have that outcome, and not the one of the request that could not be written.
func (c *LoopConn) Unwritable() { c.mux.Close() }

// Failed ends the requests that are in flight.
func (c *LoopConn) Failed(err *failure.Error) { c.lose(err) }

// lose ends the requests of a connection that is closed, by an error if there is one.
func (c *LoopConn) lose(err error) {
	mux := c.mux
	c.mux = nil
	if mux != nil {
		mux.End(err)
	}
}

// lend gives the connection memory for what it will write.
func (c *LoopConn) lend() {
	if n := len(c.loop.buffers); n > 0 && !c.dirty {
		c.mux.Lend(c.loop.buffers[n-1])
		c.loop.buffers = c.loop.buffers[:n-1]
	}
}

// touch notes that the connection may have something to write.
func (c *LoopConn) touch() {
	if !c.dirty {
		c.dirty = true
		c.loop.unsent = append(c.loop.unsent, c)
	}
}

// flush writes what is to be written, and closes a connection that has served its purpose.
func (c *LoopConn) flush() {
	c.dirty = false
	if !c.conn.IsOpen() {
		return
	}
	mux := c.mux
	if len(mux.Output()) > 0 {
		c.conn.Write(mux.Output())
		mux.Wrote(!c.conn.Unwritten())
	}
	if b := mux.Reclaim(); len(c.loop.buffers) < maxBuffers && 0 < cap(b) && cap(b) <= maxBuffer {
		c.loop.buffers = append(c.loop.buffers, b)
	}
	if c.conn.IsOpen() {
		c.retire()
	}
}

// retire closes an open connection that takes no more requests and has none in flight.
func (c *LoopConn) retire() {
	if !c.mux.Usable() && c.mux.InFlight() == 0 {
		c.conn.Close()
		c.mux = nil
	}
}

// came tells of the events of what was read.
func (st *LoopStream) came(stream *Stream) {
	if s := stream.events; s.Tell(st.conn.waited) {
		s.At(st.conn.loop.Elapsed())
		st.conn.loop.Move(&st.deadline, s.Limit())
	}
}

// GiveUp ends the request, and leaves the connection to others.
func (st *LoopStream) GiveUp(err error) {
	if s := st.stream.events; s != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		if err = s.Passed(); err == nil {
			st.conn.mux.Leave(&st.stream)
			st.conn.touch()
			st.ended(&st.stream, nil)
			return
		}
	}
	phase := failure.Reading
	if (st.conn.conn.Unwritten() || st.stream.HasRest()) && !errors.Is(err, failure.ErrStalled) {
		phase = failure.Writing
	}
	st.conn.mux.Cancel(&st.stream)
	st.conn.touch()
	st.ended(&st.stream, &failure.Error{Phase: phase, Err: err})
}

// ended passes the outcome of the request on.
func (st *LoopStream) ended(stream *Stream, err error) {
	c := st.conn
	c.loop.Answered(&st.deadline)
	var r transport.Response
	switch {
	case err == nil:
		r = stream.Response()
		r.Waited, r.WaitSampled = c.waited, c.conn.Sampled()
		r.WaitExact = c.waited > 0 && !c.conn.Secured() && c.mux.Consumed()
	case c.loop.Interrupted():
		err = failure.ErrInterrupted
	default:
		err = inPhase(failure.Reading, err)
	}
	r.Reused, r.Streamed, r.EventData = st.reused, stream.events.Streamed(), stream.events.Data()
	st.reused = false
	c.loop.onDone(st, r, err)
}
