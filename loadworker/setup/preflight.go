package setup

import (
	"context"
	"fmt"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Preflight checks that the target is the intended one: it sends each request of the
// source once and checks the response.
type Preflight struct{ Config }

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
	p.Source.Render(&s.buffer, question, source.Vars{
		Seq: int64(question)*int64(p.Workers) + int64(p.Worker), Worker: p.Worker, Step: preflightStep,
	})
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
	err := p.Source.Check(question, r)
	switch {
	case err == nil:
		return nil
	case notReady(r.Status) && !p.Source.Expected(question, r.Status):
		return &Unreachable{p.errorf(question, fmt.Errorf("%w: the target is not ready", err))}
	}
	return p.errorf(question, err)
}

// notReady reports whether a status is that of a target that is starting, or of a
// proxy in front of one.
func notReady(status int) bool {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func (p Preflight) errorf(question int, err error) error {
	return fmt.Errorf("preflight: %s: %w", p.Source.Name(question), err)
}
