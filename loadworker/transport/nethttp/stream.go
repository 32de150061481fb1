package nethttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/event"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// stream is a response that is read as a stream of events. nil is one that is not. What is a chunk or a
// frame is not known here: each read is one.
type stream struct {
	event.Reader
	began time.Time
	limit *socket.Limit
}

// newStream returns the response to a request that is sent now. cancel ends the request.
func newStream(r *transport.Request, deadline time.Time, cancel context.CancelFunc) *stream {
	if r.Stream == nil {
		return nil
	}
	s := &stream{began: time.Now(), limit: socket.NewLimit(cancel)}
	s.Begin(r, deadline.Sub(s.began))
	return s
}

// header says that the body of the response begins, or why it cannot be read as a stream.
func (s *stream) header(response *http.Response) error {
	if s == nil {
		return nil
	}
	if err := s.Encoded(response.StatusCode, response.Header.Get("Content-Encoding")); err != nil {
		return &failure.Error{Phase: failure.Reading, Err: err}
	}
	s.Header(response.StatusCode, false)
	return nil
}

// read takes what was read of the body at once; whole says that this is the end of it.
func (s *stream) read(b []byte, whole bool) {
	if s == nil {
		return
	}
	s.Body(b)
	if whole {
		s.End()
	}
	if s.Tell(0) {
		s.At(time.Since(s.began))
		s.limit.Move(s.began.Add(s.Limit()))
	}
}

// outcome is why a request has failed, and what came of its stream. failed is why it would have failed
// otherwise, and ctx the context of the request.
func (s *stream) outcome(ctx context.Context, failed error) (transport.Streamed, error) {
	if s == nil {
		return transport.Streamed{}, failed
	}
	passed := s.limit.Stop() || errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case failed == nil, errors.Is(failed, failure.ErrInterrupted):
	case passed:
		if failed = s.Passed(); failed != nil {
			failed = &failure.Error{Phase: failure.Reading, Err: failed}
		}
	case s.Broken(failed):
		failed = nil
	}
	return s.Streamed(), failed
}

// data are those of the latest event, if they are kept.
func (s *stream) data() []byte {
	if s == nil {
		return nil
	}
	return s.Data()
}
