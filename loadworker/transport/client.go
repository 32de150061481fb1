package transport

import (
	"context"
	"time"
)

// Client is a way to send requests to one target. There are two: one of our own
// for HTTP/1.1, and net/http's for HTTP/2.
type Client interface {
	// NewLine returns a line that is not open yet.
	NewLine() Line
	// Opened is how many connections were opened for requests so far.
	Opened() int64
	// Exhausted is how many attempts to connect failed so far because this process
	// had no descriptor, or this address no port, left.
	Exhausted() (descriptors, ports int64)
	// Name says in results which client it was: "http1", "net/http HTTP/2", …
	Name() string
}

// Line is how one user, or one hit of arrivals after another, reaches the
// target: a connection, or a stream of one that is shared. One request at a
// time; only Interrupt may be called meanwhile.
type Line interface {
	// Do sends a request exactly once and reads the whole response. It opens the
	// line if it is not open. The error is an *Error, or ErrCut after Interrupt.
	Do(ctx context.Context, r *Request, deadline time.Time) (Response, error)
	// Open opens the line, if it can be opened before a request and is not open.
	Open(ctx context.Context, deadline time.Time) error
	// IsOpen says whether the line is open as far as is known here, and Alive
	// looks whether the other side has it open, too.
	IsOpen() bool
	Alive() bool
	// Interrupt ends the request that is under way, and all later ones, until
	// Resume. Opening is ended by its context.
	Interrupt()
	Resume()
	// Close closes the line; the next request opens it again.
	Close()
}

// Response is what came back, whole.
type Response struct {
	// Status is the final status code, at least 200 or 101.
	Status int
	// Size is the length of the body in bytes, as it was transferred, without
	// the framing of chunks.
	Size int64
	// Body is the first bytes of the body, as many as the request's Keep says.
	// It is valid until the line's next request.
	Body []byte
	// Reused is whether the request went over a connection which had carried one
	// before. It is set beside an error, too.
	Reused bool
}
