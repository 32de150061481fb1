package socket

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
)

// Opener opens the connections of a client that event loops can drive, and counts them.
// It is the part of Client that is the same in all of them.
type Opener struct {
	*dial.Dialer
	opened atomic.Int64
}

// Open opens a connection for requests, over TLS if the target is.
func (o *Opener) Open(ctx context.Context) (net.Conn, error) {
	conn, err := o.DialWrapped(ctx, o.under)
	if err == nil {
		o.opened.Add(1)
	}
	return conn, err
}

// under has the socket under TLS pass between goroutines and loops.
func (o *Opener) under(conn net.Conn) net.Conn {
	if o.Target().TLS {
		return Under(conn)
	}
	return conn
}

// Opened returns how many connections were opened for requests so far.
func (o *Opener) Opened() int64 { return o.opened.Load() }
