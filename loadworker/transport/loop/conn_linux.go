package loop

import (
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Protocol is what one connection speaks. The loop calls its methods, never two at a
// time.
type Protocol interface {
	// Opened says that the connection is open, or why Dial could not open it.
	Opened(err error)
	// Receive takes bytes that have arrived; none are the end of the connection.
	// waited is how long ago the last of them came; 0: not known. closing says that
	// the other side sends no more after what is to be read. It returns false if it
	// needs no more of what may have arrived; if all of that was read, the next event is
	// then its next call.
	Receive(in []byte, waited time.Duration, closing bool) (more bool)
	// Failed says that the connection failed and is closed.
	Failed(err *failure.Error)
}

// LastReader is a Protocol with several requests on a connection: when one cannot be written any more, others may
// have been answered.
type LastReader interface {
	Protocol
	// Unwritable says that the other side has closed the connection. What came before that is received next, and then
	// the end of the connection.
	Unwritable()
}

// Conn is a connection of a Loop. The zero value is closed.
type Conn struct {
	loop     *Loop
	protocol Protocol
	number   int32 // in the loop
	fd       int32
	open     bool
	stamped  bool        // the kernel can say when bytes came
	secured  *socket.TLS // nil: there is no TLS
	rest     []byte      // of what was written: what the socket had no room for
	answers  int         // bytes that TLS itself has said since the socket had room
}

// Add adds a closed connection.
func (l *Loop) Add(c *Conn, p Protocol) {
	c.loop, c.protocol, c.number = l, p, int32(len(l.conns))
	l.conns = append(l.conns, c)
}

// IsOpen reports whether the connection is open as far as the loop has read.
func (c *Conn) IsOpen() bool { return c.open }

// Secured reports whether bytes that are read may be of TLS itself.
func (c *Conn) Secured() bool { return c.secured != nil }

// Unwritten reports whether the socket has not yet had room for all that was written.
func (c *Conn) Unwritten() bool { return len(c.rest) > 0 }

// Close closes the connection, without a call of Failed.
func (c *Conn) Close() {
	if c.open && c.secured != nil && len(c.rest) == 0 {
		c.secured.CloseNotify(&c.loop.pipe)
		_, _ = socket.Write(c.fd, c.loop.pipe.Take()) // the other side may have closed
	}
	c.abort()
}

// abort closes the socket.
func (c *Conn) abort() {
	c.rest, c.secured, c.answers = nil, nil, 0
	if c.open {
		c.open = false
		_ = unix.Close(int(c.fd))
	}
}

// Adopt opens the connection with the socket of another, which is closed, and with its
// TLS.
func (c *Conn) Adopt(conn net.Conn) error {
	fd, secured, err := socket.Detach(conn)
	if err != nil {
		return err
	}
	return c.connect(fd, secured)
}

// Release closes the connection and returns one of package net with its socket.
func (c *Conn) Release() (net.Conn, error) {
	_ = unix.EpollCtl(c.loop.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
	secured := c.secured
	c.open, c.secured = false, nil
	return socket.Attach(int(c.fd), secured)
}

// connect makes fd the socket of the connection.
func (c *Conn) connect(fd int, secured *socket.TLS) error {
	c.fd, c.open, c.secured = int32(fd), true, secured
	c.stamped = socket.Stamp(fd)
	if secured != nil && c.loop.text == nil {
		c.loop.text = make([]byte, 0, inBuffer+maxRecord)
	}
	if err := c.loop.watch(unix.EPOLL_CTL_ADD, fd, c.number); err != nil {
		c.abort()
		return &failure.Error{Phase: failure.Dialing, Err: err}
	}
	return nil
}

// Write writes what there is room for. The rest follows when there is more room, so that
// b may be reused.
func (c *Conn) Write(b []byte) {
	if c.secured == nil {
		c.send(b)
		return
	}
	if err := c.secured.Seal(&c.loop.pipe, b); err != nil {
		c.fail(failure.Writing, err)
		return
	}
	c.send(c.loop.pipe.Take())
}

// send writes bytes as they are.
func (c *Conn) send(b []byte) {
	if len(c.rest) > 0 {
		c.rest = append(c.rest, b...)
		return
	}
	c.flush(b)
}

// flush writes b, which may be the rest.
func (c *Conn) flush(b []byte) {
	n, errno := socket.Write(c.fd, b)
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		c.cannotWrite(errno)
	case n == len(b):
		c.rest = nil
	default:
		c.rest = append(c.rest[:0], b[n:]...)
	}
}

// cannotWrite fails, unless the other side has closed the connection and what came before is read first.
func (c *Conn) cannotWrite(errno unix.Errno) {
	p, ok := c.protocol.(LastReader)
	if !ok || errno != unix.EPIPE && errno != unix.ECONNRESET {
		c.fail(failure.Writing, errno)
		return
	}
	c.rest = nil
	p.Unwritable()
	c.readLater()
}

// readAtOnce is how much is read of a connection before others have their turn: the other side
// may send as fast as it is read here.
const readAtOnce = 4 * inBuffer

// readPending reads what has arrived by now, without an event, and nothing that arrives
// meanwhile: the other side may send without end.
func (c *Conn) readPending() {
	if !c.open {
		return
	}
	poll := [1]unix.PollFd{{Fd: c.fd, Events: unix.POLLIN | unix.POLLRDHUP}}
	if n, err := unix.Poll(poll[:], 0); n == 0 && err == nil {
		return
	}
	pending, err := socket.Pending(int(c.fd))
	if err != nil {
		pending = readAtOnce
	}
	// One more than there are: after the bytes there may be the end.
	c.read(poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0, pending+1)
}

// read reads what has arrived, up to a number of bytes. Of what a full buffer had no room for,
// there is no event.
func (c *Conn) read(closing bool, left int) {
	for more := true; more && c.open; {
		if left <= 0 {
			c.readLater()
			return
		}
		n, waited, errno := c.readInto()
		left -= n
		switch {
		case errno == unix.EAGAIN:
			return
		case errno != 0 && c.Unwritten():
			c.fail(failure.Writing, errno)
		case errno != 0:
			c.fail(failure.Reading, errno)
		case c.secured != nil:
			more = c.decipher(c.loop.in[:n], waited, closing)
		default:
			more = c.protocol.Receive(c.loop.in[:n], waited, closing)
		}
		more = more || n == inBuffer
	}
}

// readLater makes an event come if there is something to read.
func (c *Conn) readLater() {
	if err := c.loop.watch(unix.EPOLL_CTL_MOD, int(c.fd), c.number); err != nil {
		c.fail(failure.Reading, err)
	}
}

// maxAnswers bounds what TLS itself says to another side that reads none of it: new keys, as
// often as that asks for them.
const maxAnswers = 64 << 10

var errAnswers = errors.New("the other side asks TLS for new keys, and reads none of the answers")

// decipher passes the text of what was read on. It ends with close_notify, or with the
// connection: many servers leave without it.
func (c *Conn) decipher(in []byte, waited time.Duration, closing bool) (more bool) {
	l := c.loop
	text, err := c.secured.Open(&l.pipe, in, l.text[:0])
	l.text = text[:0]
	if out := l.pipe.Take(); len(out) > 0 && !c.answer(out) {
		return false
	}
	ended := errors.Is(err, io.EOF)
	more = true
	if len(text) > 0 && c.open {
		more = c.protocol.Receive(text, waited, closing || err != nil)
	}
	switch {
	case !more || !c.open || err == nil:
		return more
	case ended:
		return c.protocol.Receive(nil, waited, true)
	default:
		c.fail(failure.Reading, err)
		return false
	}
}

// answer sends what TLS itself has to say, and reports whether the connection goes on.
func (c *Conn) answer(out []byte) bool {
	c.send(out)
	if c.answers += len(out); !c.Unwritten() {
		c.answers = 0
	}
	if c.answers > maxAnswers {
		c.fail(failure.Reading, errAnswers)
	}
	return c.open
}

// fail closes the connection and says so.
func (c *Conn) fail(phase failure.Phase, err error) {
	c.abort()
	c.protocol.Failed(&failure.Error{Phase: phase, Err: err})
}
