package socket

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Under returns the connection that TLS is to be put on, so that its socket can be
// detached later: TLS stays as it is, keys, tickets and all, above another socket.
func Under(conn net.Conn) net.Conn { return &under{Conn: conn} }

// Break closes the socket of a connection, without the close_notify of TLS, which Close
// sends and which may block for 5 s.
func Break(conn net.Conn) {
	if conn = underTLS(conn); conn != nil {
		_ = conn.Close()
	}
}

// underTLS returns the connection under TLS, or conn itself if there is no TLS.
func underTLS(conn net.Conn) net.Conn {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn()
	}
	return conn
}

// TLS is the TLS of a connection whose socket is detached. It has no socket of its own:
// bytes pass by a Pipe.
type TLS struct {
	conn  *tls.Conn
	under *under
	// drained: TLS has no whole record left. It may after a handshake, whose reads can have
	// taken more than that.
	drained bool
}

// tlsOf returns the TLS of a connection; nil: it has none, or none whose socket can be
// detached.
func tlsOf(conn net.Conn) *TLS {
	if secured, ok := conn.(*tls.Conn); ok {
		if u, ok := secured.NetConn().(*under); ok {
			return &TLS{conn: secured, under: u}
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
	records, whole := t.under.records.follow(in)
	for {
		if len(to) == cap(to) {
			to = append(to, 0)[:len(to)]
		}
		room := to[len(to):cap(to)]
		n, err := t.conn.Read(room)
		to = to[:len(to)+n]
		if errors.Is(err, errNotYet) {
			t.drained = true
			return to, nil
		}
		if err != nil {
			p.in = nil
			return to, err
		}
		if n < len(room) {
			records-- // each read is of one record, or more if some have no text
		}
		if records == 0 && whole && t.drained {
			return to, nil // without a read that would find nothing
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
	pipe    *Pipe // nil: there is a socket
	records records
}

func (u *under) Read(b []byte) (int, error) {
	p := u.pipe
	switch {
	case p == nil:
		n, err := u.Conn.Read(b)
		u.records.follow(b[:n])
		return n, err
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

// headerLength is that of a record of TLS; its last two bytes are the length of what follows
// (RFC 8446, 5.1).
const headerLength = 5

// records follow where the records of a connection end.
type records struct {
	left   int // bytes of the record, after its header, that have not arrived
	header [headerLength]byte
	has    int // bytes of a header whose rest has not arrived
}

// follow returns how many records end in b, the next bytes of the connection, and whether
// the last of them ends it.
func (r *records) follow(b []byte) (ended int, whole bool) {
	for len(b) > 0 {
		if r.left == 0 {
			n := copy(r.header[r.has:], b)
			b, r.has = b[n:], r.has+n
			if r.has < headerLength {
				break
			}
			r.has, r.left = 0, int(binary.BigEndian.Uint16(r.header[3:]))
		}
		n := min(r.left, len(b))
		b, r.left = b[n:], r.left-n
		if r.left == 0 {
			ended++
		}
	}
	return ended, r.left == 0 && r.has == 0
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
