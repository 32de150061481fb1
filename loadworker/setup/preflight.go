package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Preflight checks that the target is the intended one: it sends each request of the
// source once and checks the response.
type Preflight struct {
	Config
	// Health says of each question whether it is one to the health service of gRPC; nil:
	// none is.
	Health []bool
}

// Ask sends the requests over one new connection, so that one replica answers them,
// and another may answer the next try. The error is *Unreachable if a later try may
// succeed; otherwise it names the response that was not expected, or is that of ctx.
func (p Preflight) Ask(ctx context.Context) error {
	s := p.newSender()
	defer s.conn.Close()
	defer context.AfterFunc(ctx, s.conn.Interrupt)()
	for i := range p.Source.Len() {
		if err := p.ask(ctx, s, i); err != nil {
			return err
		}
	}
	return nil
}

func (p Preflight) ask(ctx context.Context, s *sender, question int) error {
	s.render(question, source.Vars{
		Seq: int64(question)*int64(p.Workers) + int64(p.Worker), Worker: p.Worker, Step: preflightStep,
	})
	if err := s.buffer.Request.Err; err != nil {
		return p.errorf(question, err)
	}
	s.buffer.Request.KeepMessage = true
	if p.asksHealth(question) {
		s.buffer.Request.Keep = keep
	}
	response, err := s.send(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &Unreachable{p.errorf(question, err)}
	}
	return p.judge(question, &response)
}

func (p Preflight) judge(question int, r *transport.Response) error {
	check := p.Source.Check
	if p.asksHealth(question) {
		check = p.checkHealth
	}
	err := said(check(question, r), r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotServing), p.notReady(question, r.Status):
		return &Unreachable{p.errorf(question, fmt.Errorf("%w: the target is not ready", err))}
	}
	return p.errorf(question, err)
}

// notReady reports whether a status, of HTTP or of gRPC, is that of a target that is
// starting or has no room, or of a proxy in front of one, and is not what the request expects. Of a
// deadline it is chance which side notices it first, and no response is that, too.
func (c Config) notReady(request, status int) bool {
	switch measure.HTTPStatus(status) {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !c.Source.Expected(request, status)
	}
	return false
}

func (p Preflight) errorf(question int, err error) error {
	return fmt.Errorf("preflight: %s: %w", p.Source.Name(question), err)
}
