package socket

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// closedByPeer reports whether the other side has closed a socket, even if there is
// still something to be read.
func closedByPeer(fd uintptr) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	return n > 0
}

// Detach takes the socket out of a connection, which it closes, and so out of the
// runtime's poller, which would be woken for it beside an event loop.
func Detach(conn net.Conn) (fd int, err error) {
	defer func() { _ = conn.Close() }()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return -1, err
	}
	if failed := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		return -1, failed
	}
	if err != nil {
		return -1, os.NewSyscallError("fcntl", err)
	}
	return fd, nil
}

// Attach returns a connection of package net with a socket that was detached. If it
// fails, the socket is closed.
func Attach(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "")
	defer func() { _ = file.Close() }()
	return net.FileConn(file)
}
