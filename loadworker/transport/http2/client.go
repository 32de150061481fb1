package http2

import (
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Client speaks HTTP/2 to one target: over TLS by ALPN, over plain TCP by prior knowledge.
type Client struct {
	socket.Opener

	origin *Origin
	shared Shared
}

var _ transport.Client = (*Client)(nil)

// Shared is how requests that are of no user share connections. Users have one each.
type Shared struct {
	// Connections is how many there are. Default 1.
	Connections int
	// Streams is how many requests may be in flight on each; 0: as many as the server
	// permits.
	Streams int
}

// NewClient returns a client that opens its connections by a dialer. agent is the value of
// User-Agent.
func NewClient(d *dial.Dialer, agent string, s Shared) *Client {
	t := d.Target()
	s.Connections = max(1, s.Connections)
	return &Client{Opener: socket.Opener{Dialer: d}, origin: NewOrigin(t.Scheme(), t.Host, agent), shared: s}
}

// Shared returns how requests that are of no user share connections.
func (c *Client) Shared() Shared { return c.shared }

// NewConn returns a connection that is not open yet, a *Conn.
func (c *Client) NewConn() transport.Conn { return &Conn{client: c, session: c.NewSession()} }

// Name names the client in results.
func (*Client) Name() string { return "http2" }
