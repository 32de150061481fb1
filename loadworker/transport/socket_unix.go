//go:build unix

package transport

import (
	"crypto/tls"
	"net"
	"syscall"
)

// alive says whether an idle connection is still open on the other side: a look
// that takes no byte away and does not wait.
func alive(conn net.Conn) bool {
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
		// Nothing to read is as it should be. A byte is one that nobody asked
		// for, except in TLS, whose session tickets come at any time, and whose
		// goodbye comes before the end.
		open = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK || (isTLS && n > 0 && !hungUp(fd))
	})
	return err == nil && open
}

// rawConn gives access to the socket of a connection.
func rawConn(conn net.Conn) syscall.RawConn {
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
