package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// tryEvery is how often an unreachable target is tried again.
	tryEvery = time.Second
	// tryTimeout bounds one attempt.
	tryTimeout = 5 * time.Second
	// prepareTimeout bounds how long connections are opened before the worker
	// says that it is ready: they are a convenience.
	prepareTimeout = 10 * time.Second
)

// prepared is news of the preparation: a plan once it can begin, a refusal
// until then.
type prepared struct {
	plan    *plan
	refusal *refusal
}

// prepare makes a plan of the assignment, waits until the target can be
// reached, asks it whether it is the one that was meant, sends what is to be sent
// before, and opens the connections of the first step. It tells all that happens,
// and ends with a plan, a refusal that is final, or ctx.
func prepare(ctx context.Context, a *workerv1.Assignment, c Config, tell func(prepared)) {
	p, refused := newPlan(a, c)
	if refused == nil {
		refused = untilReachable(ctx, tell, func() *refusal { return p.reach(ctx, a.GetTarget()) })
	}
	if refused == nil && p.preflight != nil {
		tell(prepared{refusal: &refusal{err: errors.New("preflight: the target is being asked")}})
		refused = untilReachable(ctx, tell, func() *refusal { return p.ask(ctx) })
	}
	if refused == nil {
		refused = p.setup.run(ctx, tell)
	}
	if refused != nil {
		tell(prepared{refusal: refused})
		return
	}
	if first, ok := p.after(-1); ok {
		opening, cancel := context.WithTimeout(ctx, prepareTimeout)
		defer cancel()
		p.runner.Prepare(opening, first)
	}
	tell(prepared{plan: p})
}

// untilReachable tries something, and tells and tries again as long as the target
// is out of reach. It returns another refusal, none, or the last when ctx ends.
func untilReachable(ctx context.Context, tell func(prepared), try func() *refusal) *refusal {
	for {
		refused := try()
		if refused == nil || refused.reason != workerv1.ReasonTargetUnreachable {
			return refused
		}
		tell(prepared{refusal: refused})
		select {
		case <-time.After(tryEvery):
		case <-ctx.Done():
			return refused
		}
	}
}

// destination names a target, and the proxy at which the failure may be.
func destination(t *workerv1.Target) string {
	if t.GetProxyUrl() == "" {
		return t.GetUrl()
	}
	return t.GetUrl() + " by proxy " + t.GetProxyUrl()
}

// reach resolves the target and opens a connection to it.
func (p *plan) reach(ctx context.Context, t *workerv1.Target) *refusal {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := p.client.Probe(ctx); err != nil {
		return &refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target %s: %w", destination(t), err)}
	}
	return nil
}
