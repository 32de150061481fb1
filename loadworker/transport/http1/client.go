package http1

import (
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Client speaks HTTP/1.1 to one target, plain or over TLS.
type Client struct {
	socket.Opener

	host  string // the Host header
	agent string
}

var _ transport.Client = (*Client)(nil)

// NewClient returns a client that opens its connections by a dialer. agent is the
// value of User-Agent.
func NewClient(d *dial.Dialer, agent string) *Client {
	return &Client{Opener: socket.Opener{Dialer: d}, host: d.Target().Host, agent: agent}
}

// NewConn returns a connection that is not open yet, a *Conn.
func (c *Client) NewConn() transport.Conn { return c.newConn() }

func (c *Client) newConn() *Conn {
	conn := &Conn{client: c, session: c.NewSession()}
	conn.onReadable = conn.transfer
	return conn
}

// Name names the client in results.
func (*Client) Name() string { return "http1" }
