package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// NetHTTP is the client for what Conn does not speak: HTTP/2, over TLS by ALPN
// and over plain TCP by prior knowledge; and to proxies. It speaks HTTP/1.1 too.
//
// Each line is one connection of net/http, an http.ClientConn, and no pool: a
// pool decides by itself when to open and which to use, and replays requests
// that met a closed connection without saying so. That holds for HTTP/2 too, so
// that a user is a connection whatever is spoken: 20 KB of memory, 30 over TLS.
//
// The environment's proxies are not used: what is between the generator and the
// target is part of what is measured, so that only the test may say it.
type NetHTTP struct {
	dialer    *Dialer // of the target
	way       way
	transport *http.Transport
	name      string
	// absolute is whether requests name the target, for a proxy.
	absolute bool
}

var _ Client = (*NetHTTP)(nil)

// way is how connections to a target are opened: by its Dialer, or by a Proxy.
type way interface {
	// dialWatched opens a connection whose errors go to the watch in ctx, and
	// fails with an *Error. What net/http asks for is not looked at.
	dialWatched(ctx context.Context, network, address string) (net.Conn, error)
	// Exhausted is that of a Client.
	Exhausted() (descriptors, ports int64)
}

var _ way = (*Dialer)(nil)

// NewNetHTTP returns a client that opens its connections by a dialer.
func NewNetHTTP(d *Dialer) *NetHTTP { return newNetHTTP(d, d) }

func newNetHTTP(d *Dialer, w way) *NetHTTP {
	protocols, name := &http.Protocols{}, "net/http HTTP/1.1"
	switch {
	case d.http2 && d.tls == nil:
		protocols.SetUnencryptedHTTP2(true)
	case d.http2:
		protocols.SetHTTP2(true)
	default:
		protocols.SetHTTP1(true)
	}
	if d.http2 {
		name = "net/http HTTP/2"
	}
	return &NetHTTP{dialer: d, way: w, name: name, transport: &http.Transport{
		Protocols:              protocols,
		DialContext:            w.dialWatched,
		DialTLSContext:         w.dialWatched,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize:         bufferSize,
		WriteBufferSize:        bufferSize,
	}}
}

// NewLine returns a line that is not open yet.
func (n *NetHTTP) NewLine() Line { return &netLine{client: n} }

// Opened is how many connections were opened for requests so far.
func (n *NetHTTP) Opened() int64 { return n.dialer.Opened() }

// Exhausted is how many attempts to connect failed for want of a descriptor or a
// local port.
func (n *NetHTTP) Exhausted() (descriptors, ports int64) { return n.way.Exhausted() }

// Name is that of net/http and the protocol, and whether there is a proxy.
func (n *NetHTTP) Name() string { return n.name }

// bufferSize is that of a connection's buffers: a usual request or response.
const bufferSize = 2 << 10

// netLine is a connection of net/http.
type netLine struct {
	client *NetHTTP
	conn   *http.ClientConn // nil: closed
	watch  *watch           // of the last conn
	body   bytes.Reader     // of the request
	kept   []byte
	// carried is whether conn has carried a request.
	carried bool

	mu     sync.Mutex
	cut    bool
	cancel context.CancelFunc // of the request that is under way; nil: none
}

// Do sends a request once and reads the whole response.
func (l *netLine) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if !l.begin(cancel) {
		return Response{}, ErrCut
	}
	defer l.begin(nil)
	if err := l.ready(ctx); err != nil {
		return Response{}, l.failed(err)
	}
	out := Response{Reused: l.carried}
	l.carried = true
	response, err := l.conn.RoundTrip(l.request(ctx, r))
	if err != nil {
		return out, l.failed(err)
	}
	out.Status = response.StatusCode
	if out.Status < measure.MinStatus || out.Status > measure.MaxStatus { // net/http takes any
		_ = response.Body.Close() // it is not read
		return Response{Reused: out.Reused}, l.failed(errStatus)
	}
	if out.Status == http.StatusSwitchingProtocols {
		l.Close() // what follows is no HTTP
		return out, nil
	}
	out.Size, err = l.read(response.Body, r.Keep)
	_ = response.Body.Close() // it was read to its end, or failed
	// net/http still reads from a connection that it hangs up: a target that hears
	// of it, as over TLS, may answer then.
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Response{Reused: out.Reused}, l.failed(err)
	}
	out.Body = l.kept
	if response.Close {
		l.Close()
	}
	return out, nil
}

// begin notes how the request is interrupted, nil when it has ended; it returns
// false if the line was.
func (l *netLine) begin(cancel context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel = cancel
	return !l.cut
}

// Open opens the connection unless it is open.
func (l *netLine) Open(ctx context.Context, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := l.ready(ctx); err != nil {
		return l.failed(err)
	}
	return nil
}

func (l *netLine) ready(ctx context.Context) error {
	if l.IsOpen() {
		return nil
	}
	l.Close()
	d := l.client.dialer
	scheme, port := "http", strconv.Itoa(int(d.port))
	if d.tls != nil {
		scheme = "https"
	}
	l.watch = &watch{}
	conn, err := l.client.transport.NewClientConn(l.watch.into(ctx), scheme, net.JoinHostPort(d.resolver.host, port))
	if err != nil {
		return err
	}
	d.opened.Add(1)
	l.conn, l.carried = conn, false
	return nil
}

// request is the request as net/http wants it.
func (l *netLine) request(ctx context.Context, r *Request) *http.Request {
	d := l.client.dialer
	out := (&http.Request{
		Method: r.Method, Host: d.host, Header: make(http.Header, len(r.Headers)+1),
		// Opaque is sent as it is: what is escaped in a path stays as it was written.
		URL: &url.URL{Scheme: "http", Host: d.host, Opaque: string(r.Path)},
	}).WithContext(ctx)
	if d.tls != nil {
		out.URL.Scheme = "https"
	}
	// A path with two slashes Opaque would take for a host.
	if l.client.absolute || bytes.HasPrefix(r.Path, []byte("//")) {
		out.URL.Opaque = out.URL.Scheme + "://" + d.host + string(r.Path)
	}
	// A proxy that looked at another host than the one that is named to it would
	// be a way around what targets are allowed.
	if len(r.Host) > 0 && !l.client.absolute {
		out.Host = string(r.Host)
	}
	if d.agent != "" {
		out.Header["User-Agent"] = []string{d.agent}
	}
	seen := false
	for _, h := range r.Headers {
		if h.Name == "User-Agent" && !seen {
			seen = true
			delete(out.Header, h.Name)
		}
		out.Header[h.Name] = append(out.Header[h.Name], string(h.Value))
	}
	if len(r.Body) > 0 {
		l.body.Reset(r.Body)
		out.Body, out.ContentLength = io.NopCloser(&l.body), int64(len(r.Body))
	}
	return out
}

// chunks are buffers that bodies are read through.
var chunks = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// read reads a body to its end and keeps its beginning.
func (l *netLine) read(body io.Reader, keep int) (size int64, err error) {
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	l.kept = l.kept[:0]
	for {
		n, err := body.Read(chunk[:])
		size += int64(n)
		l.kept = append(l.kept, chunk[:min(n, keep-len(l.kept))]...)
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}

// IsOpen says whether the connection is open: net/http reads all the time, and so
// learns at once when the other side closes it.
func (l *netLine) IsOpen() bool { return l.conn != nil && l.conn.Err() == nil }

// Alive is IsOpen.
func (l *netLine) Alive() bool { return l.IsOpen() }

// Interrupt ends the request that is under way, and all later ones, until Resume.
func (l *netLine) Interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	if l.cancel != nil {
		l.cancel()
	}
}

// Resume permits requests again.
func (l *netLine) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Close closes the connection; the next request opens another.
func (l *netLine) Close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
	l.conn = nil
}

// failed says why a request failed, in the terms of this package. An HTTP/1.1
// connection is in an unknown state after that; one of HTTP/2 is not, but for the
// one stream.
func (l *netLine) failed(err error) error {
	if l.conn != nil && (!l.client.dialer.http2 || l.conn.Err() != nil) {
		l.Close()
	}
	l.mu.Lock()
	cut := l.cut
	l.mu.Unlock()
	var known *Error
	switch {
	case cut:
		return ErrCut
	case errors.As(err, &known):
		return err // of the dialer
	default:
		return &Error{Phase: Reading, Err: explain(err, l.watch)}
	}
}

// handshaken refuses a connection on which another protocol was agreed.
func (d *Dialer) handshaken(state tls.ConnectionState) error {
	if d.http2 && state.NegotiatedProtocol != http2Protocol {
		return errors.New("the target does not offer HTTP/2 by ALPN")
	}
	return nil
}

// http2Protocol and http1Protocol are their names in ALPN.
const (
	http2Protocol = "h2"
	http1Protocol = "http/1.1"
)
