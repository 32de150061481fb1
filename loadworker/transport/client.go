package transport

import (
	"context"
	"time"
)

// Client sends requests to one target.
type Client interface {
	// NewConn returns a connection that is not open yet.
	NewConn() Conn
	// Probe opens a connection and closes it.
	Probe(ctx context.Context) error
	// Opened returns how many connections were opened for requests so far.
	Opened() int64
	// Exhausted returns how many attempts to connect failed so far because this
	// process had no descriptor, or this address no port, left.
	Exhausted() (descriptors, ports int64)
	// Name names the client in results: "http1", "net/http HTTP/2", …
	Name() string
}

// Conn is a connection to the target, which is opened again when it is lost. It
// carries one request at a time; only Interrupt may be called meanwhile.
type Conn interface {
	// Do sends a request exactly once and reads the whole response. It opens the
	// connection if it is not open. The error is a *failure.Error, or
	// failure.ErrInterrupted after Interrupt.
	Do(ctx context.Context, r *Request, deadline time.Time) (Response, error)
	// Open opens the connection ahead of a request, unless it is open.
	Open(ctx context.Context, deadline time.Time) error
	// IsOpen reports whether the connection is open as far as is known on this
	// side. Alive checks that the other side has it open, too.
	IsOpen() bool
	Alive() bool
	// Interrupt ends the request that is under way, and all later ones, until
	// Resume. Opening is ended by its context.
	Interrupt()
	Resume()
	// Close closes the connection; the next request opens it again.
	Close()
}
