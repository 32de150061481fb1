package setup

import (
	"context"
	"fmt"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Preflight asks the target whether it is the one that was meant: the requests of
// the source, one after the other.
type Preflight struct{ Config }

// Ask asks every question once, over a connection of its own, so that the answers
// are of one replica, and those of the next try may be of another. An error is
// *Unreachable, about which time may help, or says what was answered instead of
// what is expected; ctx ends it, too.
func (p Preflight) Ask(ctx context.Context) error {
	s := p.newSender()
	defer s.line.Close()
	defer context.AfterFunc(ctx, s.line.Interrupt)()
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

// notReady says whether a status is that of a target that is starting, or of a
// proxy before one that is: time may help.
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
