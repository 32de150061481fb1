package http1

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Client speaks HTTP/1.1 to one target, plain or over TLS.
type Client struct {
	dialer *dial.Dialer
	host   string // the Host header
	agent  string
	opened atomic.Int64
}

var _ transport.Client = (*Client)(nil)

// NewClient returns a client that opens its connections by a dialer. agent is the
// value of User-Agent.
func NewClient(d *dial.Dialer, agent string) *Client {
	return &Client{dialer: d, host: d.Target().Host, agent: agent}
}

// NewConn returns a connection that is not open yet, a *Conn.
func (c *Client) NewConn() transport.Conn { return c.newConn() }

func (c *Client) newConn() *Conn {
	conn := &Conn{client: c}
	conn.onReadable = conn.transfer
	return conn
}

// open opens a connection for requests.
func (c *Client) open(ctx context.Context) (net.Conn, error) {
	conn, err := c.dialer.DialWrapped(ctx, c.under)
	if err == nil {
		c.opened.Add(1)
	}
	return conn, err
}

// under has the socket under TLS pass between goroutines and loops.
func (c *Client) under(conn net.Conn) net.Conn {
	if c.dialer.Target().TLS {
		return socket.Under(conn)
	}
	return conn
}

// Probe opens a connection and closes it.
func (c *Client) Probe(ctx context.Context) error { return c.dialer.Probe(ctx) }

// Opened returns how many connections were opened for requests so far.
func (c *Client) Opened() int64 { return c.opened.Load() }

// Handshakes returns how long the TLS handshakes since its last call took.
func (c *Client) Handshakes() *measure.Histogram { return c.dialer.Handshakes() }

// Exhausted returns how many attempts to connect failed for want of a descriptor
// or a local port.
func (c *Client) Exhausted() (descriptors, ports int64) { return c.dialer.Exhausted() }

// Name names the client in results.
func (*Client) Name() string { return "http1" }
