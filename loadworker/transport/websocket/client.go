package websocket

import (
	"context"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// Client opens connections of WebSocket to one target, plain or over TLS.
type Client struct {
	socket.Opener

	host  string // the Host header
	agent string
}

var _ transport.Client = (*Client)(nil)

// NewClient returns a client that opens its connections by a dialer, which must be one for HTTP/1.1. agent is the
// value of User-Agent.
func NewClient(d *dial.Dialer, agent string) *Client {
	return &Client{Opener: socket.Opener{Dialer: d}, host: d.Target().Host, agent: agent}
}

// NewConn returns a place for connections, each of which carries one request.
func (c *Client) NewConn() transport.Conn { return &Conn{client: c, session: c.NewSession()} }

// Name names the client in results.
func (*Client) Name() string { return "websocket" }

// Conn opens a connection for each request, which counts into the time of the request.
type Conn struct {
	socket.Interruptible
	client  *Client
	session *dial.Session
}

var _ transport.Conn = (*Conn)(nil)

// Do opens a connection, sends the messages of a request, reads those that come, and closes it. The error is a
// *failure.Error, the request's own, or failure.ErrInterrupted after Interrupt.
func (c *Conn) Do(ctx context.Context, r *transport.Request, deadline time.Time) (transport.Response, error) {
	if r.Err != nil {
		return transport.Response{}, r.Err
	}
	opening, cancel := socket.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := c.client.Open(dial.Resuming(opening, c.session))
	if err != nil {
		return transport.Response{}, c.Interruption(err)
	}
	c.Share(conn)
	x := newExchange(c, conn, r, deadline)
	response, err := x.run()
	if err != nil || response.Streamed.Left {
		socket.Break(conn) // Close of TLS could wait for the server
	}
	c.Unshare(conn)
	x.sending.Wait()
	if err != nil {
		err = c.Interruption(err)
	}
	return response, err
}

// Open does nothing: the time to open a connection is part of the time of its request.
func (*Conn) Open(context.Context, time.Time) error { return nil }

// IsOpen is false: each request opens a connection.
func (*Conn) IsOpen() bool { return false }

// Alive is true: there is nothing to open ahead of a request.
func (*Conn) Alive() bool { return true }

// Close does nothing: the connection of a request is closed with its end.
func (*Conn) Close() {}
