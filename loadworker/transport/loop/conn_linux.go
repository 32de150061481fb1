package loop

import (
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
	// needs no more of what may have arrived; the next event is then its next call.
	Receive(in []byte, waited time.Duration, closing bool) (more bool)
	// Failed says that the connection failed and is closed.
	Failed(err *failure.Error)
}

// Conn is a connection of a Loop. The zero value is closed.
type Conn struct {
	loop     *Loop
	protocol Protocol
	number   int32 // in the loop
	fd       int32
	open     bool
	stamped  bool   // the kernel says when bytes came
	rest     []byte // of what was written: what the socket had no room for
}

// Add adds a closed connection.
func (l *Loop) Add(c *Conn, p Protocol) {
	c.loop, c.protocol, c.number = l, p, int32(len(l.conns))
	l.conns = append(l.conns, c)
}

// IsOpen reports whether the connection is open as far as the loop knows.
func (c *Conn) IsOpen() bool { return c.open }

// Unwritten reports whether the socket has not yet had room for all that was written.
func (c *Conn) Unwritten() bool { return len(c.rest) > 0 }

// Close closes the connection, without a call of Failed.
func (c *Conn) Close() {
	c.rest = nil
	if c.open {
		c.open = false
		_ = unix.Close(int(c.fd))
	}
}

// Adopt opens the connection with the socket of another, which is closed.
func (c *Conn) Adopt(conn net.Conn) error {
	fd, err := socket.Detach(conn)
	if err != nil {
		return err
	}
	return c.connect(fd)
}

// Release closes the connection and returns one of package net with its socket.
func (c *Conn) Release() (net.Conn, error) {
	_ = unix.EpollCtl(c.loop.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
	c.open = false
	return socket.Attach(int(c.fd))
}

// stampedEvery: of one of so many connections of a loop it is measured how long its
// responses wait to be read, which costs another kind of read.
const stampedEvery = 16

// connect makes fd the socket of the connection.
func (c *Conn) connect(fd int) error {
	c.fd, c.open = int32(fd), true
	c.stamped = c.number%stampedEvery == 0 && socket.Stamp(fd)
	if err := c.loop.register(fd, c.number); err != nil {
		c.Close()
		return &failure.Error{Phase: failure.Dialing, Err: err}
	}
	return nil
}

// Write writes what there is room for. The rest follows when there is more room, so that
// b may be reused.
func (c *Conn) Write(b []byte) {
	if len(c.rest) > 0 {
		c.rest = append(c.rest, b...)
		return
	}
	c.write(b)
}

// write writes b, which may be the rest.
func (c *Conn) write(b []byte) {
	n, errno := socket.Write(c.fd, b)
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		c.fail(&failure.Error{Phase: failure.Writing, Err: errno})
	case n == len(b):
		c.rest = nil
	default:
		c.rest = append(c.rest[:0], b[n:]...)
	}
}

// read reads what has arrived.
func (c *Conn) read(closing bool) {
	for more := true; more && c.open; {
		n, waited, errno := c.readInto()
		switch errno {
		case 0:
			more = c.protocol.Receive(c.loop.in[:n], waited, closing)
		case unix.EAGAIN:
			return
		default:
			c.fail(&failure.Error{Phase: failure.Reading, Err: errno})
			return
		}
	}
}

// readInto reads once into the loop's buffer. waited is how long ago the last of it
// came; 0: not known.
func (c *Conn) readInto() (n int, waited time.Duration, errno unix.Errno) {
	if c.stamped {
		return socket.ReadStamped(c.fd, c.loop.in, &c.loop.control)
	}
	n, errno = socket.Read(c.fd, c.loop.in)
	return n, 0, errno
}

func (c *Conn) fail(err *failure.Error) {
	c.Close()
	c.protocol.Failed(err)
}
