//go:build unix

package socket

import (
	"crypto/tls"
	"net"
	"syscall"
)

// Alive reports whether an idle connection is still open on the other side. It takes
// no byte away and does not wait.
func Alive(conn net.Conn) bool {
	secured, isTLS := conn.(*tls.Conn)
	if isTLS {
		conn = secured.NetConn()
	}
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	// Not by Read, which refuses once the deadline of the last request has passed.
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		// An open, idle connection has nothing to read. A byte answers no request,
		// except in TLS: session tickets come at any time, and close_notify comes
		// before the end.
		open = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK || (isTLS && n > 0 && !closedByPeer(fd))
	})
	return err == nil && open
}

// RawConn returns access to the socket of a connection, or nil.
func RawConn(conn net.Conn) syscall.RawConn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
