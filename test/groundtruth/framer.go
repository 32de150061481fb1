package groundtruth

import (
	"encoding/binary"
	"net"

	"golang.org/x/net/http2"
)

// framer is a listener of connections of HTTP/2, without TLS or above it, on which a Frame
// takes the place of the RST_STREAM by which net/http aborts a stream. So it comes between
// two frames, and net/http takes the stream for ended, as the client does.
type framer struct {
	net.Listener
	frame Frame
}

func (l framer) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framed{Conn: conn, frame: l.frame}, nil
}

// framed is such a connection. net/http writes to it from one goroutine at a time.
type framed struct {
	net.Conn
	frame Frame
	held  []byte // the beginning of a frame
}

// NetConn is the connection below it.
func (c *framed) NetConn() net.Conn { return c.Conn }

const (
	frameHeader = 9
	resetSize   = 4
)

// Write writes whole frames. The rest of one comes with the next Write.
func (c *framed) Write(b []byte) (int, error) {
	c.held = append(c.held, b...)
	var out []byte
	rest := c.held
	for len(rest) >= frameHeader {
		n := frameHeader + int(binary.BigEndian.Uint32(rest)>>8)
		if len(rest) < n {
			break
		}
		if stream, ok := aborted(rest[:n]); ok {
			out = append(out, c.frame.Bytes(stream)...)
		} else {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	c.held = append(c.held[:0], rest...)
	if len(out) > 0 {
		if _, err := c.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// aborted is the stream that a frame of net/http aborts.
func aborted(frame []byte) (stream uint32, ok bool) {
	if len(frame) != frameHeader+resetSize || http2.FrameType(frame[3]) != http2.FrameRSTStream {
		return 0, false
	}
	code := http2.ErrCode(binary.BigEndian.Uint32(frame[frameHeader:]))
	return binary.BigEndian.Uint32(frame[5:]), code == http2.ErrCodeInternal
}
