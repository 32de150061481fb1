package http1

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// LoopConn is a connection of a Loop. The zero value is closed.
type LoopConn struct {
	// Tag is the caller's; the loop does not use it.
	Tag int

	number   int32 // in the loop
	fd       int32
	open     bool
	inFlight bool   // a request is under way
	carried  bool   // a request, since it was opened
	reused   bool   // by the request that is under way
	stamped  bool   // the kernel says when bytes came
	rest     []byte // of a request that is not yet written
	response responseReader

	deadline   time.Duration
	next, prev *LoopConn // by deadline, of those that wait for a response
}

// IsOpen reports whether the connection is open as far as the loop knows.
func (c *LoopConn) IsOpen() bool { return c.open }

func (c *LoopConn) close() {
	if c.open {
		c.open = false
		_ = unix.Close(int(c.fd))
	}
}

// Add adds a connection, with the socket of from if that is open. from is then
// closed.
func (l *Loop) Add(c *LoopConn, from *Conn) {
	c.number = int32(len(l.conns))
	l.conns = append(l.conns, c)
	carried := from.carried
	if fd, err := from.release(); err == nil {
		_ = l.connect(c, fd) // if this fails, the first request opens it again
		c.carried = carried
	}
}

// Return gives an idle socket back to a Conn.
func (l *Loop) Return(c *LoopConn, to *Conn) {
	if !c.open || c.inFlight {
		return
	}
	c.open = false
	_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
	to.adoptDescriptor(int(c.fd)) // if this fails, its next request opens it again
	to.carried = c.carried
}

// connect makes fd the socket of a connection.
func (l *Loop) connect(c *LoopConn, fd int) error {
	c.fd, c.open, c.carried = int32(fd), true, false
	c.stamped = c.number%stampedEvery == 0 && stamp(fd)
	err := l.register(fd, c.number)
	if err != nil {
		c.close()
	}
	return err
}

// Send sends a request, before a deadline, on a connection that has none in flight.
func (l *Loop) Send(ctx context.Context, c *LoopConn, r *transport.Request, deadline time.Duration) {
	c.inFlight, c.deadline = true, deadline
	c.response.begin(r)
	l.out = appendRequest(l.out[:0], r, l.client.host, l.client.agent)
	if !c.open {
		c.rest = append(c.rest, l.out...)
		l.dialing++
		l.dials.Go(func() { l.dial(ctx, c, deadline) })
		return
	}
	l.begin(c, l.out)
}

// begin begins to write a request.
func (l *Loop) begin(c *LoopConn, b []byte) {
	c.reused, c.carried = c.carried, true
	l.waiting.add(c)
	l.write(c, b)
}

// write writes what there is room for. The rest follows when there is more room.
func (l *Loop) write(c *LoopConn, b []byte) {
	n, errno := writeNow(c.fd, b)
	if errno != 0 && errno != unix.EAGAIN {
		l.fail(c, &failure.Error{Phase: failure.Writing, Err: errno})
		return
	}
	if n == len(b) {
		c.rest = nil
		return
	}
	c.rest = append(c.rest[:0], b[n:]...)
}

// read reads what has arrived. closed says that the other side will send no more.
func (l *Loop) read(c *LoopConn, closed bool) {
	for {
		n, waited, errno := l.readInto(c)
		switch {
		case errno == unix.EAGAIN:
			return
		case !c.inFlight: // it was closed, or bytes came that answer no request
			c.close()
			return
		case errno != 0:
			l.fail(c, &failure.Error{Phase: failure.Reading, Err: errno})
			return
		}
		if err := c.response.feed(l.in[:n]); err != nil {
			l.fail(c, &failure.Error{Phase: failure.Reading, Err: err})
			return
		}
		if c.response.parser.done() {
			if closed || len(c.rest) > 0 || !c.response.reusable() {
				c.close()
			}
			r := c.response.parser.response()
			r.Waited = waited
			l.end(c, r, nil)
			return
		}
	}
}

// readInto reads once into the loop's buffer. waited is how long ago the last of it
// came; 0: not known.
func (l *Loop) readInto(c *LoopConn) (n int, waited time.Duration, errno unix.Errno) {
	if c.stamped {
		return readStamped(c.fd, l.in, &l.control)
	}
	n, errno = readNow(c.fd, l.in)
	return n, 0, errno
}

// fail ends a request whose connection is in an unknown state.
func (l *Loop) fail(c *LoopConn, err error) {
	c.close()
	if l.interrupted {
		err = failure.ErrInterrupted
	}
	l.end(c, transport.Response{}, err)
}

func (l *Loop) end(c *LoopConn, r transport.Response, err error) {
	l.waiting.remove(c)
	r.Reused = c.reused
	c.inFlight, c.reused, c.rest, c.response.held = false, false, nil, nil
	l.onDone(c, r, err)
}

// deadlines are the connections that wait for a response, nearest deadline first.
// All requests of a step have the same timeout, so that the next connection nearly
// always belongs at the end.
type deadlines struct{ first, last *LoopConn }

func (q *deadlines) add(c *LoopConn) {
	after := q.last
	for after != nil && after.deadline > c.deadline {
		after = after.prev
	}
	c.prev = after
	if after == nil {
		c.next, q.first = q.first, c
	} else {
		c.next, after.next = after.next, c
	}
	if c.next == nil {
		q.last = c
	} else {
		c.next.prev = c
	}
}

// remove removes a connection, if it is in the queue.
func (q *deadlines) remove(c *LoopConn) {
	switch {
	case c.prev != nil:
		c.prev.next = c.next
	case q.first == c:
		q.first = c.next
	default:
		return // it was only dialled
	}
	if c.next == nil {
		q.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.next, c.prev = nil, nil
}
