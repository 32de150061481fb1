package transport

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// release takes the socket out of a connection and of the runtime's poller,
// which would else be woken for it, too.
func (c *Conn) release() (fd int, err error) {
	if c.raw == nil {
		return -1, &Error{Phase: Dialing, Err: net.ErrClosed}
	}
	defer c.Close()
	if failed := c.raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		err = failed
	}
	if err != nil {
		return -1, &Error{Phase: Dialing, Err: os.NewSyscallError("fcntl", err)}
	}
	return fd, nil
}

// resume gives a connection a socket, or leaves it closed.
func (c *Conn) resume(fd int) {
	file := os.NewFile(uintptr(fd), "")
	conn, err := net.FileConn(file)
	_ = file.Close()
	if err == nil {
		c.adopt(conn)
	}
}
