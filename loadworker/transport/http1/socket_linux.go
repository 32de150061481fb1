package http1

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// closedByPeer reports whether the other side has closed a socket, even if there is
// still something to be read.
func closedByPeer(fd uintptr) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	return n > 0
}

// release takes the socket out of a connection, and so out of the runtime's poller,
// which would be woken for it beside the loop.
func (c *Conn) release() (fd int, err error) {
	if c.raw == nil {
		return -1, &failure.Error{Phase: failure.Dialing, Err: net.ErrClosed}
	}
	defer c.Close()
	if failed := c.raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		err = failed
	}
	if err != nil {
		return -1, &failure.Error{Phase: failure.Dialing, Err: os.NewSyscallError("fcntl", err)}
	}
	return fd, nil
}

// adoptDescriptor gives a connection a socket, or leaves it closed.
func (c *Conn) adoptDescriptor(fd int) {
	file := os.NewFile(uintptr(fd), "")
	conn, err := net.FileConn(file)
	_ = file.Close()
	if err == nil {
		c.adopt(conn)
	}
}
