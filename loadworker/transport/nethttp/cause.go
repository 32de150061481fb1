package nethttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// causeOf returns why a request failed that was under way. The error of net/http is
// the cause itself only if the socket had none: the bytes were then no response.
func causeOf(err error, socket *errorRecorder) error {
	if errors.Is(err, context.DeadlineExceeded) || failure.IsTLSAlert(err) {
		return err
	}
	if cause := socket.first(); cause != nil {
		if errors.Is(cause, io.EOF) {
			cause = io.ErrUnexpectedEOF
		}
		return cause
	}
	var stream http2.StreamError
	if errors.As(err, &stream) && stream.Code != http2.ErrCodeProtocol {
		return fmt.Errorf("%w: the stream was reset: %v", io.ErrUnexpectedEOF, stream.Code)
	}
	// A GOAWAY leaves the socket open, and net/http does not export its type, so that
	// only the text identifies it.
	if strings.Contains(err.Error(), "GOAWAY") {
		return failure.Withhold(err.Error(), "%w: the server closed the connection by GOAWAY", io.ErrUnexpectedEOF)
	}
	return withheld(err)
}

// withheld is an error of net/http while it reads. What is no response is in the text of
// its error.
func withheld(err error) error {
	bad := failure.Classify(&failure.Error{Phase: failure.Reading, Err: err}) == measure.BadResponse
	if bad && !errors.Is(err, transport.ErrStatus) {
		return failure.Withhold(err.Error(), "malformed HTTP response")
	}
	return err
}

// errorRecorder records why a socket of net/http ended. net/http reports that in
// errors whose types it does not export.
type errorRecorder struct {
	mu  sync.Mutex
	err error // the first of the socket
}

// recorderKey is the key of an errorRecorder in the context of a dial.
type recorderKey struct{}

// into returns a context for NewClientConn, whose socket is then recorded.
func (r *errorRecorder) into(ctx context.Context) context.Context {
	return context.WithValue(ctx, recorderKey{}, r)
}

func recorderOf(ctx context.Context) *errorRecorder {
	return ctx.Value(recorderKey{}).(*errorRecorder)
}

// wrap returns a connection whose errors are recorded.
func (r *errorRecorder) wrap(c net.Conn) net.Conn { return &recordedConn{Conn: c, recorder: r} }

// record keeps the first error. That the connection was closed on this side is no
// cause.
func (r *errorRecorder) record(err error) {
	if err == nil || errors.Is(err, net.ErrClosed) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// first returns the first error, or nil.
func (r *errorRecorder) first() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// recordedConn is a connection whose errors are recorded.
type recordedConn struct {
	net.Conn
	recorder *errorRecorder
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.recorder.record(err)
	return n, err
}

func (c *recordedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.recorder.record(err)
	return n, err
}
