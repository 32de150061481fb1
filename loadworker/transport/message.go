package transport

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Request is one request, ready to be sent. Its slices belong to the caller, which
// may reuse them after the response.
type Request struct {
	// Method is the HTTP method.
	Method string
	// Path is the path and query.
	Path []byte
	// Headers are sent in their order, after those that a client adds itself.
	// Their names are in canonical form.
	Headers []Header
	// Body is sent with its length if it is not empty.
	Body []byte
	// Host replaces the target's host if it is not empty.
	Host []byte
	// Keep is how much of the response's body is returned, in bytes. The rest is
	// read and discarded.
	Keep int
}

// Header is one header field.
type Header struct {
	Name  string
	Value []byte
}

// Response is a whole response.
type Response struct {
	// Status is the final status code, at least 200 or 101.
	Status int
	// Size is the length of the body in bytes, as it was transferred, without
	// the framing of chunks.
	Size int64
	// Body is the first bytes of the body, as many as the request's Keep says.
	// It is valid until the next request of the connection.
	Body []byte
	// Reused reports whether the request went over a connection that had carried
	// another before. It is set beside an error, too.
	Reused bool
}

// MaxHeader bounds the header of a response in bytes, interim responses, the lines
// of chunks and trailers included: 10,000 connections share the worker's memory.
const MaxHeader = 1 << 20

// ErrStatus is the error of a status code that no response may have.
var ErrStatus = fmt.Errorf("response status is not within %d to %d", measure.MinStatus, measure.MaxStatus)
