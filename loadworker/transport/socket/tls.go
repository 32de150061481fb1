package socket

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Under returns the connection that TLS is to be put on, so that its socket can be
// detached later: TLS stays as it is, keys, tickets and all, above another socket.
func Under(conn net.Conn) net.Conn { return &under{Conn: conn} }

// TLS is the TLS of a connection whose socket is detached. It has no socket of its own:
// bytes pass by a Pipe.
type TLS struct {
	conn  *tls.Conn
	under *under
}

// tlsOf returns the TLS of a connection; nil: it has none, or none whose socket can be
// detached.
func tlsOf(conn net.Conn) *TLS {
	if secured, ok := conn.(*tls.Conn); ok {
		if u, ok := secured.NetConn().(*under); ok {
			return &TLS{secured, u}
		}
	}
	return nil
}

// Pipe has the bytes that pass between a socket and the TLS of its connection. A pipe can
// serve many connections, one after the other: it is empty after each use.
type Pipe struct {
	in    []byte // has arrived
	ended bool   // nothing follows in
	out   []byte // is to be sent
}

// Open deciphers what has arrived; none is the end of the connection. It appends the text
// to that in to, and what TLS itself has to say to what is to be sent. The error is
// io.EOF at the end of the text.
func (t *TLS) Open(p *Pipe, in, to []byte) ([]byte, error) {
	p.in, p.ended, t.under.pipe = in, len(in) == 0, p
	for {
		if len(to) == cap(to) {
			to = append(to, 0)[:len(to)]
		}
		n, err := t.conn.Read(to[len(to):cap(to)])
		to = to[:len(to)+n]
		if errors.Is(err, errNotYet) {
			return to, nil
		}
		if err != nil {
			p.in = nil
			return to, err
		}
	}
}

// Seal enciphers a text.
func (t *TLS) Seal(p *Pipe, text []byte) error {
	t.under.pipe = p
	_, err := t.conn.Write(text)
	return err
}

// CloseNotify says that no more will be sent.
func (t *TLS) CloseNotify(p *Pipe) {
	t.under.pipe = p
	_ = t.conn.CloseWrite() // it writes into memory
}

// Take returns what is to be sent. It is valid until the next use of the pipe.
func (p *Pipe) Take() []byte {
	out := p.out
	p.out = p.out[:0]
	return out
}

// errNotYet is the error of a read of TLS for which too little has arrived. Because it is
// temporary, crypto/tls does not keep it, and reads again when it is called again.
var errNotYet error = notYet{}

type notYet struct{}

func (notYet) Error() string   { return "the rest has not arrived" }
func (notYet) Timeout() bool   { return true }
func (notYet) Temporary() bool { return true }

// under is the connection under TLS: of package net, or a pipe.
type under struct {
	net.Conn
	pipe *Pipe // nil: there is a socket
}

func (u *under) Read(b []byte) (int, error) {
	p := u.pipe
	switch {
	case p == nil:
		return u.Conn.Read(b)
	case len(p.in) > 0:
		n := copy(b, p.in)
		p.in = p.in[n:]
		return n, nil
	case p.ended:
		return 0, io.EOF
	default:
		return 0, errNotYet
	}
}

func (u *under) Write(b []byte) (int, error) {
	if u.pipe == nil {
		return u.Conn.Write(b)
	}
	u.pipe.out = append(u.pipe.out, b...)
	return len(b), nil
}

// SetWriteDeadline is called by close_notify. A pipe never blocks.
func (u *under) SetWriteDeadline(t time.Time) error {
	if u.pipe == nil {
		return u.Conn.SetWriteDeadline(t)
	}
	return nil
}

// SyscallConn returns access to the socket.
func (u *under) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := u.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
