//go:build unix

package socket

import (
	"crypto/tls"
	"net"
	"syscall"
)

// Alive reports whether an idle connection is still open on the other side: there is
// nothing to be read, since a byte would answer no request. Over TLS, what is TLS's own is
// taken, such as session tickets, and only text or its end count. It does not wait.
func Alive(conn net.Conn) bool {
	secured, isTLS := conn.(*tls.Conn)
	if isTLS {
		t := tlsOf(secured)
		return t == nil || t.alive()
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
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
	})
	return err == nil && open
}

// alive is Alive. It closes the socket of a connection that is not, since what was read
// is lost.
func (t *TLS) alive() bool {
	raw := RawConn(t.under)
	if raw == nil {
		return true
	}
	open := false
	if err := raw.Control(func(fd uintptr) { open = t.idles(int32(fd)) }); err != nil || !open {
		_ = t.under.Close()
		return false
	}
	return true
}

// idles reads what has arrived at a socket, and reports whether the connection is open
// and no text came.
func (t *TLS) idles(fd int32) bool {
	defer func() { t.under.pipe = nil }()
	p, in := &Pipe{}, make([]byte, 4<<10)
	for {
		n, errno := Read(fd, in)
		if errno == syscall.EAGAIN {
			break
		}
		text, err := t.Open(p, in[:n], nil)
		if errno != 0 || err != nil || len(text) > 0 {
			return false
		}
	}
	out := p.Take() // the answer to a change of keys: a few bytes, for which there is room
	if len(out) == 0 {
		return true
	}
	n, errno := Write(fd, out)
	return n == len(out) && errno == 0
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
