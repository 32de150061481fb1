package http1

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// buffer is what the bytes of a plain connection pass through.
type buffer struct {
	out []byte
	// in holds a usual response whole, and a large one in few pieces.
	in [32 << 10]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// securedBuffer is the size of reads of a TLS connection, which has itself buffers
// of many times that.
const securedBuffer = 4 << 10

// exchange sends a request and reads the response.
func (c *Conn) exchange(r *transport.Request, deadline time.Time) error {
	if c.raw == nil {
		return c.endSending(c.exchangeSecured(r, deadline))
	}
	c.request, c.rest = r, nil
	return c.endSending(c.await(deadline))
}

// endSending ends the writing of a large request, whose response is over or has failed with err, and returns
// the error of the request. A connection on which it was not written whole carries no other.
func (c *Conn) endSending(err error) error {
	s := c.sending
	if s == nil {
		return err
	}
	c.sending = nil
	failed := s.end()
	if failed == nil {
		return err
	}
	c.response.parser.close = true
	var read *failure.Error
	if c.response.parser.status != 0 || !errors.As(err, &read) {
		return err
	}
	// Nothing was answered. Which of both sides of the socket notices first that it has failed is chance.
	if errno := syscall.Errno(0); errors.As(err, &errno) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return &failure.Error{Phase: failure.Writing, Err: read.Err}
	}
	return err
}

// await reads the response, while what is left of the request is sent.
func (c *Conn) await(deadline time.Time) error {
	for {
		// err is the runtime's own, of a deadline; c.err is that of transfer.
		err := c.raw.Read(c.onReadable)
		switch {
		case err == nil && len(c.rest) > 0:
			c.send(c.rest, deadline)
			c.rest = nil
		case err == nil && c.isOver():
			return c.err
		case err == nil: // its limit is nearer now, or there is no end to what comes
			if now := time.Now(); !c.setDeadline(now, c.limit(deadline)) {
				return failure.ErrInterrupted
			}
		case c.extendDeadline(err, c.limit(deadline)):
		case c.transferLate(err):
			return c.err
		case !c.extendDeadline(err, c.limit(deadline)): // no event came by that
			return c.passed(err)
		}
	}
}

// isOver reports whether what was transferred ended the response, or failed.
func (c *Conn) isOver() bool { return c.err != nil || c.response.parser.done() }

// transferLate reads what has come, after a deadline: if the process stood still, it may have
// come long ago. It reports whether that ends the response.
func (c *Conn) transferLate(err error) (done bool) {
	if !errors.Is(err, os.ErrDeadlineExceeded) || c.request != nil || c.IsInterrupted() {
		return false
	}
	failed := c.raw.Control(func(fd uintptr) { done = c.transfer(fd) && c.isOver() })
	return done && failed == nil
}

// readsAtOnce is how many reads there are before the deadline is looked at: the other side may send
// as fast as it is read here.
const readsAtOnce = 64

// transfer sends the request when it is called first, and then reads what has
// arrived. It returns false to be called again when the socket is readable, and true
// if the response is over, or if its limit is to be looked at.
//
// It sends from within the wait for the response: a read straight after the request
// would cost a system call and find nothing.
func (c *Conn) transfer(fd uintptr) (done bool) {
	buffer := buffers.Get().(*buffer)
	defer buffers.Put(buffer)
	if r := c.request; r != nil {
		c.request = nil
		buffer.out = AppendRequest(buffer.out[:0], r, c.client.host, c.client.agent)
		return !c.write(buffer.out, int32(fd))
	}
	for range readsAtOnce {
		n, errno := socket.Read(int32(fd), buffer.in[:])
		if errno == syscall.EAGAIN {
			return false
		}
		// A read that did not fill the buffer is followed by another all the same:
		// the end of the connection may have come with the bytes, and would not
		// be reported again.
		c.err = nil
		if errno != 0 {
			c.err = &failure.Error{Phase: failure.Reading, Err: errno}
		} else if err := c.response.feed(buffer.in[:n]); err != nil {
			c.err = &failure.Error{Phase: failure.Reading, Err: err}
		}
		nearer := c.tell()
		if c.isOver() || nearer {
			return true
		}
	}
	return true
}

// tell tells of the events of what was read, and reports whether that brings the limit nearer.
func (c *Conn) tell() (nearer bool) {
	s := c.response.parser.events
	return s != nil && c.response.tell(0) && s.At(time.Since(c.used))
}

// write reports whether it wrote the whole request. If not, the reason is in c.err,
// or the part that is missing in c.rest.
func (c *Conn) write(out []byte, fd int32) bool {
	n, errno := socket.Write(fd, out)
	if errno != 0 && errno != syscall.EAGAIN {
		c.err = &failure.Error{Phase: failure.Writing, Err: errno}
		return false
	}
	if n < len(out) {
		c.rest = slices.Clone(out[n:])
		return false
	}
	return true
}

// writtenAtOnce is the size of a request for which the kernel has room, whether or not the server reads.
const writtenAtOnce = 16 << 10

// exchangeSecured is exchange over TLS.
func (c *Conn) exchangeSecured(r *transport.Request, deadline time.Time) error {
	if out := AppendRequest(nil, r, c.client.host, c.client.agent); len(out) > writtenAtOnce {
		c.send(out, deadline)
	} else if _, err := c.net.Write(out); err != nil {
		return &failure.Error{Phase: failure.Writing, Err: err}
	}
	if c.secured == nil { // one that goes to a loop never needs it
		c.secured = make([]byte, securedBuffer)
	}
	return c.awaitSecured(deadline)
}

// awaitSecured is await over TLS.
func (c *Conn) awaitSecured(deadline time.Time) error {
	extend := func(to time.Time) bool { return c.setDeadline(time.Now(), to) }
	var response socket.LateReader
	for {
		n, err := response.Read(c.net, c.secured, extend)
		if n > 0 || errors.Is(err, io.EOF) {
			err = c.response.feed(c.secured[:n]) // an error that came with bytes comes again
			if c.tell() && err == nil {
				extend(c.limit(deadline)) // if this fails, so does the next read
			}
		}
		switch {
		case err == nil && c.response.parser.done():
			return nil
		case err == nil:
		case c.response.parser.events != nil && c.extendDeadline(err, c.limit(deadline)):
			response = socket.LateReader{}
		default:
			return c.passed(err)
		}
	}
}
