package socket

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach takes the socket out of a connection, which it closes, and so out of the
// runtime's poller, which would be woken for it beside an event loop. The connection's TLS
// stays; nil: it has none.
func Detach(conn net.Conn) (fd int, secured *TLS, err error) {
	if secured = tlsOf(conn); secured != nil {
		conn, secured.under.Conn = secured.under.Conn, nil
	}
	defer func() { _ = conn.Close() }()
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return -1, nil, errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return -1, nil, err
	}
	if failed := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		return -1, nil, failed
	}
	if err != nil {
		return -1, nil, os.NewSyscallError("fcntl", err)
	}
	return fd, secured, nil
}

// Attach returns a connection of package net with a socket and the TLS, if any, that were
// detached. If it fails, the socket is closed.
func Attach(fd int, secured *TLS) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "")
	defer func() { _ = file.Close() }()
	conn, err := net.FileConn(file)
	if err != nil || secured == nil {
		return conn, err
	}
	secured.under.Conn, secured.under.pipe = conn, nil
	return secured.conn, nil
}
