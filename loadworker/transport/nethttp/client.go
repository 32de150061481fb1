package nethttp

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Client speaks to one target by net/http, directly or through a proxy.
type Client struct {
	target    dial.Target
	agent     string
	dialer    dialer
	transport *http.Transport
	name      string
	// absolute says that requests name the target, for a proxy.
	absolute bool
	opened   atomic.Int64
}

var _ transport.Client = (*Client)(nil)

// dialer opens connections to a target.
type dialer interface {
	// DialWrapped opens a connection, whose TCP connection it passes to wrap before
	// the TLS handshake. The error is a *failure.Error.
	DialWrapped(ctx context.Context, wrap func(net.Conn) net.Conn) (net.Conn, error)
	// Handshakes and Exhausted are those of a transport.Client.
	Handshakes() (times *measure.Histogram, resumed int64)
	// NewSession is that of a place for connections; nil: they resume none.
	NewSession() *dial.Session
	Exhausted() (descriptors, ports int64)
}

var _ dialer = (*dial.Dialer)(nil)

// NewClient returns a client that opens its connections by a dialer. agent is the
// value of User-Agent.
func NewClient(d *dial.Dialer, agent string) *Client { return newClient(d.Target(), agent, d) }

// NewProxyClient returns a client that reaches a dialer's target through the proxy
// at a URL. It fails if the target is an address that may not be dialled.
func NewProxyClient(target *dial.Dialer, agent, address string) (*Client, error) {
	p, err := newProxy(target, agent, address)
	if err != nil {
		return nil, err
	}
	c := newClient(target.Target(), agent, p)
	c.name += " by proxy"
	c.absolute = !target.Target().TLS
	return c, nil
}

// maxHeader bounds the header of a response, which net/http keeps whole, with 32 bytes for
// each field of HTTP/2. It counts no extensions of chunks, as transport.MaxHeader does.
const maxHeader = 256 << 10

// maxReceived bounds what has come of a body in HTTP/2 and is not read yet; by default
// net/http lets a target send 4 MB.
const maxReceived = 1 << 20

// bufferSize is the size of a connection's buffers: a usual request or response.
const bufferSize = 2 << 10

func newClient(target dial.Target, agent string, d dialer) *Client {
	protocols, name := &http.Protocols{}, "net/http HTTP/1.1"
	switch {
	case target.HTTP2 && !target.TLS:
		protocols.SetUnencryptedHTTP2(true)
	case target.HTTP2:
		protocols.SetHTTP2(true)
	default:
		protocols.SetHTTP1(true)
	}
	if target.HTTP2 {
		name = "net/http HTTP/2"
	}
	// net/http passes the target's address. The dialer has it.
	dialRecorded := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialWrapped(ctx, recorderOf(ctx).wrap)
	}
	return &Client{target: target, agent: agent, dialer: d, name: name, transport: &http.Transport{
		Protocols:              protocols,
		DialContext:            dialRecorded,
		DialTLSContext:         dialRecorded,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerConnection: maxReceived, MaxReceiveBufferPerStream: maxReceived},
		ReadBufferSize:         bufferSize,
		WriteBufferSize:        bufferSize,
	}}
}

// NewConn returns a connection that is not open yet.
func (c *Client) NewConn() transport.Conn {
	return &conn{client: c, session: c.dialer.NewSession()}
}

// Probe opens a connection and closes it. Through a proxy, that finds the target
// only over TLS; otherwise the proxy contacts the target for a request only.
func (c *Client) Probe(ctx context.Context) error {
	conn, err := c.dialer.DialWrapped(dial.Probing(ctx), func(c net.Conn) net.Conn { return c })
	if err != nil {
		return err
	}
	return conn.Close()
}

// Opened returns how many connections were opened for requests so far.
func (c *Client) Opened() int64 { return c.opened.Load() }

// Handshakes returns how long the TLS handshakes with the target since its last call took,
// and how many of them resumed a session.
func (c *Client) Handshakes() (times *measure.Histogram, resumed int64) {
	return c.dialer.Handshakes()
}

// Exhausted returns how many attempts to connect, to the proxy if there is one,
// failed for want of a descriptor or a local port.
func (c *Client) Exhausted() (descriptors, ports int64) { return c.dialer.Exhausted() }

// Name names net/http, the protocol, and the proxy if there is one.
func (c *Client) Name() string { return c.name }

// url returns the target's URL with the path of a request. Opaque is sent unchanged: the
// escapes of a path stay as they were written.
func (c *Client) url(r *transport.Request) *url.URL {
	host, scheme := c.target.Host, c.target.Scheme()
	u := &url.URL{Scheme: scheme, Host: host, Opaque: string(r.Path)}
	// An opaque path that begins with two slashes would be taken for a host.
	if c.absolute || bytes.HasPrefix(r.Path, []byte("//")) {
		u.Opaque = scheme + "://" + host + string(r.Path)
	}
	return u
}

// header returns the request's header, with a User-Agent unless it has its own.
func (c *Client) header(r *transport.Request) http.Header {
	const userAgent = "User-Agent"
	out := make(http.Header, len(r.Headers)+1)
	for _, h := range r.Headers {
		out[h.Name] = append(out[h.Name], string(h.Value))
	}
	if len(out[userAgent]) == 0 && c.agent != "" {
		out[userAgent] = []string{c.agent}
	}
	return out
}
