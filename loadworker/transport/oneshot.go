package transport

import (
	"context"
	"time"
)

// OneShot is a client whose lines open a connection for each request, which
// counts into the request's time, and close it after that.
type OneShot struct {
	client Client
	http2  bool
}

var _ Client = OneShot{}

// NewOneShot does not keep the connections of a client.
func NewOneShot(c Client, d *Dialer) OneShot { return OneShot{client: c, http2: d.http2} }

// NewLine returns a line that is never open between two requests.
func (o OneShot) NewLine() Line { return &oneShot{Line: o.client.NewLine(), http2: o.http2} }

// Opened is how many connections were opened for requests so far.
func (o OneShot) Opened() int64 { return o.client.Opened() }

// Exhausted is how many attempts to connect failed for want of a descriptor or a
// local port.
func (o OneShot) Exhausted() (descriptors, ports int64) { return o.client.Exhausted() }

// Name is that of the client, and what is different.
func (o OneShot) Name() string { return o.client.Name() + ", no keep-alive" }

type oneShot struct {
	Line
	http2   bool
	request Request
}

// closing tells the server to close the connection, so that the port is not kept
// by this side for a minute. HTTP/2 has no such header.
var closing = Header{Name: "Connection", Value: []byte("close")}

// Do opens a connection, sends a request, reads the response and closes.
func (l *oneShot) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	if !l.http2 {
		headers := append(append(l.request.Headers[:0], r.Headers...), closing)
		l.request = *r
		l.request.Headers = headers
		r = &l.request
	}
	defer l.Close()
	return l.Line.Do(ctx, r, deadline)
}

// Open does nothing: a connection that is there before its request would not
// count.
func (*oneShot) Open(context.Context, time.Time) error { return nil }

// IsOpen is false: each request opens a connection.
func (*oneShot) IsOpen() bool { return false }

// Alive is true: there is nothing to open beforehand.
func (*oneShot) Alive() bool { return true }
