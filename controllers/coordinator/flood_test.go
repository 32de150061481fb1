package coordinator

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// rawConn is a connection that speaks HTTP/2 as a test likes.
type rawConn struct {
	*http2.Framer
	conn    *tls.Conn
	out     *countedWriter
	encoded bytes.Buffer
	hpack   *hpack.Encoder
	stream  uint32
}

type countedWriter struct {
	io.Writer
	n int
}

func (w *countedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += n
	return n, err
}

// dialRaw connects, and discards what comes.
func (r *fixture) dialRaw() *rawConn {
	r.t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: timeout}, "tcp", r.addr, &tls.Config{RootCAs: r.roots, ServerName: workerv1.ServerName, NextProtos: []string{"h2"}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		r.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	c := &rawConn{conn: conn, out: &countedWriter{Writer: conn}, stream: 1}
	c.Framer = http2.NewFramer(c.out, nil)
	c.AllowIllegalWrites = true
	c.hpack = hpack.NewEncoder(&c.encoded)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		r.t.Fatal(err)
	}
	if err := c.WriteSettings(); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// header is that of a session, with more fields.
func (c *rawConn) header(fields ...hpack.HeaderField) []byte {
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
func (c *rawConn) open(fields ...hpack.HeaderField) error {
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.header(fields...), EndHeaders: true})
	c.stream += 2
	return err
}

// What a client may send without end, and without a session, ends its connection after
// some kilobytes, and no other.
func TestFloodEndsItsConnection(t *testing.T) {
	const most = 16 << 20 // of which sockets hold the larger part
	for name, flood := range map[string]func(*rawConn) error{
		"settings": func(c *rawConn) error {
			return c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
		},
		"settings acks":  func(c *rawConn) error { return c.WriteSettingsAck() },
		"ping replies":   func(c *rawConn) error { return c.WritePing(true, [8]byte{}) },
		"pings":          func(c *rawConn) error { return c.WritePing(false, [8]byte{}) },
		"window updates": func(c *rawConn) error { return c.WriteWindowUpdate(0, 1) },
		"priorities":     func(c *rawConn) error { return c.WritePriority(1, http2.PriorityParam{StreamDep: 3}) },
		"unknown frames": func(c *rawConn) error { return c.WriteRawFrame(0x7f, 0, 0, make([]byte, 1024)) },
		"resets": func(c *rawConn) error {
			if err := c.open(); err != nil {
				return err
			}
			return c.WriteRSTStream(c.stream-2, http2.ErrCodeCancel)
		},
		"junk tokens": func(c *rawConn) error {
			if err := c.open(hpack.HeaderField{Name: "authorization", Value: "Bearer a/junk/pod", Sensitive: true}); err != nil {
				return err
			}
			return c.WriteRSTStream(c.stream-2, http2.ErrCodeCancel)
		},
		"large headers": func(c *rawConn) error {
			return c.open(hpack.HeaderField{Name: "authorization", Value: strings.Repeat("x", 12<<10), Sensitive: true})
		},
		"continuations": func(c *rawConn) error {
			if c.stream == 1 {
				c.stream = 3
				return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.header()})
			}
			return c.WriteContinuation(1, false, c.header(hpack.HeaderField{Name: "x", Value: strings.Repeat("x", 4<<10), Sensitive: true}))
		},
		"empty continuations": func(c *rawConn) error {
			if c.stream == 1 {
				c.stream = 3
				return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.header()})
			}
			return c.WriteContinuation(1, false, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t)
			r.Direct("a", running("a", 1, 0))
			honest := r.connect("a", 0, "pod")
			raw := r.dialRaw()
			var err error
			for err == nil && raw.out.n < most {
				err = flood(raw)
			}
			if err == nil {
				t.Errorf("%d bytes were taken", raw.out.n)
			}
			honest.sync()
			if open, _ := r.connections.counts(); open > 1 {
				t.Errorf("%d connections are open, want that of the worker", open)
			}
		})
	}
}

// A connection with a session takes no more without a message than the largest one.
func TestFloodBesideASessionEndsIt(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 1, 0))
	var taken *connection
	r.wrap = func(c net.Conn) net.Conn { return c }
	w := r.connect("a", 0, "pod")
	r.connections.mu.Lock()
	for _, c := range r.connections.open {
		taken = c
	}
	r.connections.mu.Unlock()
	taken.unhandled.Store(maxUnhandled + 1)
	w.probe(1)
	if err := w.end(); err == nil || testutil.ToFloat64(r.metrics.rejected.WithLabelValues(string(rejectFlood))) != 1 {
		t.Errorf("%v, want that it is ended as a flood", err)
	}
}
