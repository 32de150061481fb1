package flood

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Conn is a connection to the coordinator that speaks HTTP/2 as its user likes. What comes
// is discarded.
type Conn struct {
	*http2.Framer
	conn    net.Conn
	out     *countedWriter
	encoded bytes.Buffer
	hpack   *hpack.Encoder
	stream  uint32
}

// countedWriter counts what was written.
type countedWriter struct {
	io.Writer
	n int64
}

func (w *countedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += int64(n)
	return n, err
}

// Dial connects over TLS. Nothing on the connection takes longer than limit.
func Dial(ctx context.Context, address string, trust *tls.Config, limit time.Duration) (*Conn, error) {
	trust = trust.Clone()
	trust.NextProtos = []string{"h2"}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := (&tls.Dialer{Config: trust}).DialContext(within, "tcp", address)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(limit)) // a connection that is closed says so below
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	c := &Conn{conn: conn, out: &countedWriter{Writer: conn}, stream: 1}
	c.Framer = http2.NewFramer(c.out, nil)
	c.AllowIllegalWrites = true
	c.hpack = hpack.NewEncoder(&c.encoded)
	if _, err = io.WriteString(conn, http2.ClientPreface); err == nil {
		err = c.WriteSettings()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Sent is how many bytes of frames were sent.
func (c *Conn) Sent() int64 { return c.out.n }

// header is that of a session, with more fields.
func (c *Conn) header(fields ...hpack.HeaderField) []byte {
	c.encoded.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "x"},
		{Name: ":path", Value: workerv1.CoordinatorService_Session_FullMethodName},
		{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
	}, fields...) {
		_ = c.hpack.WriteField(f) // to memory
	}
	return bytes.Clone(c.encoded.Bytes())
}

// open begins a stream.
func (c *Conn) open(fields ...hpack.HeaderField) error {
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.header(fields...), EndHeaders: true})
	c.stream += 2
	return err
}

// openAndReset begins a stream and takes it back.
func (c *Conn) openAndReset(fields ...hpack.HeaderField) error {
	if err := c.open(fields...); err != nil {
		return err
	}
	return c.WriteRSTStream(c.stream-2, http2.ErrCodeCancel)
}

// continueHeader begins a header that has no end, and then goes on with it.
func (c *Conn) continueHeader(with func() []byte) error {
	if c.stream == 1 {
		c.stream = 3
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.header()})
	}
	return c.WriteContinuation(1, false, with())
}
