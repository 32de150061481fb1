package setup

import (
	"context"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Config configures the requests before the run.
type Config struct {
	Source *source.Source
	Client transport.Client
	// Timeout of a request that has none of its own.
	Timeout time.Duration
	// Worker is the worker's number, of Workers.
	Worker, Workers int32
}

// The indexes of what is sent outside the steps. No step of the run has them, so that
// random values are independent.
const (
	fillStep      int32 = -1
	warmUpStep    int32 = -2
	preflightStep int32 = -3
	auditStep     int32 = -4
)

// Unreachable is the failure of a request without a response, or with one of a target
// that is not ready.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// sender is a connection with the buffers of its request.
type sender struct {
	config Config
	conn   transport.Conn
	// request is the one of the source that is in the buffer.
	request int
	buffer  source.Buffer
}

func (c Config) newSender() *sender {
	return &sender{config: c, conn: c.Client.NewConn()}
}

// said is an error about a response, with what the target said of the status of a call.
func said(err error, r *transport.Response) error {
	if err == nil || r.Message == "" {
		return err
	}
	return failure.Withhold(r.Message, "%w", err)
}

// render renders a request of the source, which send sends.
func (s *sender) render(request int, v source.Vars) {
	s.request = request
	s.config.Source.Render(&s.buffer, request, v)
}

// send sends the rendered request once.
func (s *sender) send(ctx context.Context) (transport.Response, error) {
	return s.conn.Do(ctx, &s.buffer.Request, time.Now().Add(s.config.Source.Timeout(s.request, s.config.Timeout)))
}
