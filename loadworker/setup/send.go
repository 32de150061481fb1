package setup

import (
	"context"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Config is what all that is sent before the run needs.
type Config struct {
	Source *source.Source
	Client transport.Client
	// Timeout of a request.
	Timeout time.Duration
	// Worker is the worker's number, of Workers.
	Worker, Workers int32
}

// The steps of what is sent before the run: no step of the run has these indexes,
// so that what is drawn is independent.
const (
	fillStep      int32 = -1
	warmUpStep    int32 = -2
	preflightStep int32 = -3
)

// Unreachable is a request to which there was no answer, or none but that the
// target is not ready.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// sender is a line with the buffers of the request on it.
type sender struct {
	line    transport.Conn
	timeout time.Duration
	buffer  source.Buffer
}

func (c Config) newSender() *sender {
	return &sender{line: c.Client.NewConn(), timeout: c.Timeout}
}

// send sends the rendered request once.
func (s *sender) send(ctx context.Context) (transport.Response, error) {
	return s.line.Do(ctx, &s.buffer.Request, time.Now().Add(s.timeout))
}
