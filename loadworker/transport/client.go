package transport

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Client sends requests to one target.
type Client interface {
	// NewConn returns a connection that is not open yet.
	NewConn() Conn
	// Probe opens a connection and closes it.
	Probe(ctx context.Context) error
	// Opened returns how many connections were opened for requests so far.
	Opened() int64
	// Handshakes returns how long the TLS handshakes took that succeeded since it was
	// called last, nil if there was none, and how many of them resumed a session.
	Handshakes() (times *measure.Histogram, resumed int64)
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

// Request is one request, ready to be sent. Its slices belong to the caller, which
// may reuse them after the response.
type Request struct {
	// Target is which client of a routed one sends it; others have one target.
	Target int
	// Method is the HTTP method.
	Method string
	// Path is the path and query.
	Path []byte
	// Headers are sent in their order, after those that a client adds itself.
	// Their names are in canonical form, but for traceparent.
	Headers []Header
	// Body is sent with its length if it is not empty.
	Body []byte
	// Host replaces the target's host if it is not empty.
	Host []byte
	// Keep is how much of the response's body is returned, in bytes. The rest is
	// read and discarded.
	Keep int
	// Budget is what the memory for it is taken from; nil: it has no bound.
	Budget *Budget
	// KeepCookies has the response's cookies returned.
	KeepCookies bool
	// KeepFields names the header fields that are returned, in canonical form.
	KeepFields []string
	// Call says that it is a call of gRPC, which only clients of HTTP/2 send: Body is its
	// messages, each in its frame.
	Call bool
	// Replies is what the response may have if it is a call.
	Replies Replies
	// Stream has the response read as a stream, of whose events Watcher is told; nil: it is not one.
	Stream  *Stream
	Watcher Watcher
	// WebSocket is sent over the connection that the rest opens, which only its client does; nil: it is not
	// one. Stream is then set, too.
	WebSocket *WebSocket
	// KeepMessage has the text returned that goes with the status of a call.
	KeepMessage bool
	// Err is why it cannot be sent, and then its outcome; nil: it can.
	Err error
}

// Replies is what the response to a call of gRPC may have. The zero value is one message
// that is not compressed.
type Replies struct {
	// Stream says that it may have any number of messages.
	Stream bool
	// Gzip says that messages may be compressed by gzip.
	Gzip bool
}

// Header is one header field.
type Header struct {
	Name  string
	Value []byte
}

// Response is a whole response.
type Response struct {
	// Status is the final status code, at least 200 or 101, or of a call that of gRPC.
	Status int
	// Size is the length of the body in bytes, as it was transferred, without
	// the framing of chunks or of messages.
	Size int64
	// Replies is how many messages the response to a call has.
	Replies int64
	// Body is the first bytes of the body, as many as the request's Keep says; of the
	// response to a call, its messages in their frames.
	// It is valid until the next request of the connection, or Free.
	Body []byte
	// NoRoom says that Body is empty, as the request's Budget had no room for it.
	NoRoom bool
	// Kept holds Body; nil: there is nothing to give back.
	Kept *Body
	// SetCookies has the values of its Set-Cookie headers, one on each line, if the
	// request asks for them: at most MaxCookies bytes. It is valid as long as Body is.
	SetCookies []byte
	// Fields has the header fields that the request asks for, as Field reads them: at most
	// MaxFields bytes. It is valid as long as Body is.
	Fields []byte
	// Streamed is what came, if the request asks for a stream.
	Streamed Streamed
	// EventData is the data of the latest event, if the request asks for it. It is valid as long as Body is.
	EventData []byte
	// Message is the text that goes with the status of a call (grpc-message), if the
	// request asks for it: of at most MaxHeader bytes, any of which the target may choose. Of a
	// connection of WebSocket, it is the reason of the close that Streamed.Code is of.
	Message string
	// Reused reports whether the request went over a connection that had carried
	// another before. It is set beside an error, too.
	Reused bool
	// Waited is how long the last bytes that were read had been in this machine before; 0: not
	// known. WaitExact says that they are the last of this response: what came with them may
	// have been another response, or of TLS itself, and this one waited for longer.
	Waited    time.Duration
	WaitExact bool
	// InOneRead says that the whole response came with one read.
	InOneRead bool
	// WaitSampled says that Waited would also be known if it was short: of such responses it
	// is a fair sample.
	WaitSampled bool
}

// Free gives the memory of Body back before the next request does.
func (r *Response) Free() {
	if r.Kept != nil {
		r.Kept.Free()
		r.Body, r.Kept = nil, nil
	}
}

// MaxHeader bounds the header of a response in bytes, interim responses, extensions
// of chunks and trailers included: 10,000 connections share the worker's memory.
const MaxHeader = 1 << 20

// MaxCookies bounds the cookies of a response that are returned, for the same reason.
const MaxCookies = 8 << 10

// AppendCookie appends the value of a Set-Cookie header to those before it, if there is
// room for it.
func AppendCookie(to, value []byte) []byte {
	if len(to)+1+len(value) > MaxCookies {
		return to
	}
	if len(to) > 0 {
		to = append(to, '\n')
	}
	return append(to, value...)
}

// MaxFields bounds the header fields of a response that are returned, likewise.
const MaxFields = 8 << 10

// AppendField appends a header field to those before it if it is among the wanted ones, whatever
// the case of its name, and if there is room for it.
func AppendField[T []byte | string](to []byte, wanted []string, name, value T) []byte {
	for _, w := range wanted {
		if len(w) == len(name) && strings.EqualFold(w, string(name)) && len(to)+len(w)+len(value)+2 <= MaxFields {
			to = append(append(append(append(to, w...), ':'), value...), '\n')
			break
		}
	}
	return to
}

// Field is the value of a header field, the first of its name; ok is false if the response has
// none, or had no room for it.
func Field(fields []byte, name string) (value []byte, ok bool) {
	for line := range bytes.SplitSeq(fields, []byte{'\n'}) {
		if len(line) > len(name) && line[len(name)] == ':' && string(line[:len(name)]) == name {
			return line[len(name)+1:], true
		}
	}
	return nil, false
}

// ErrStatus is the error of a status code that no response may have.
var ErrStatus = fmt.Errorf("response status is not within %d to %d", measure.MinStatus, measure.MaxStatus)
