package transport

import (
	"context"
	"time"
)

// oneShot is a Client whose connections carry one request each.
type oneShot struct{ Client }

// NewOneShot returns a client that opens a connection of c for each request, which
// counts into the request's time, and closes it after that.
func NewOneShot(c Client) Client { return oneShot{c} }

// NewConn returns a connection that is never open between two requests.
func (o oneShot) NewConn() Conn { return &oneShotConn{Conn: o.Client.NewConn()} }

// Name is that of the client, and the difference.
func (o oneShot) Name() string { return o.Client.Name() + ", no keep-alive" }

type oneShotConn struct {
	Conn
	request Request
}

// closing has the server close the connection, so that it is not this side that
// keeps the port for a minute. A client of HTTP/2, which has no such header, does
// not send it.
var closing = Header{Name: "Connection", Value: []byte("close")}

// Do opens a connection, sends a request, reads the response and closes.
func (c *oneShotConn) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	headers := append(append(c.request.Headers[:0], r.Headers...), closing)
	c.request = *r
	c.request.Headers = headers
	defer c.Close()
	return c.Conn.Do(ctx, &c.request, deadline)
}

// Open does nothing: the time to open a connection is part of its request's.
func (*oneShotConn) Open(context.Context, time.Time) error { return nil }

// IsOpen is false: each request opens a connection.
func (*oneShotConn) IsOpen() bool { return false }

// Alive is true: there is nothing to open ahead of a request.
func (*oneShotConn) Alive() bool { return true }
