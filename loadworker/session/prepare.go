package session

import (
	"context"
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
// reached, sends what is to be sent before, and opens the connections of the
// first step. It tells all that happens, and ends with a plan, a refusal that is final, or ctx.
func prepare(ctx context.Context, a *workerv1.Assignment, c Config, tell func(prepared)) {
	p, refused := newPlan(a, c)
	if refused != nil {
		tell(prepared{refusal: refused})
		return
	}
	for {
		err := p.reach(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		err = fmt.Errorf("target %s: %w", destination(a.GetTarget()), err)
		tell(prepared{refusal: &refusal{reasonTargetUnreachable, err}})
		select {
		case <-time.After(tryEvery):
		case <-ctx.Done():
			return
		}
	}
	if refused := p.setup.run(ctx, tell); refused != nil {
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

// destination names a target, and the proxy at which the failure may be.
func destination(t *workerv1.Target) string {
	if t.GetProxyUrl() == "" {
		return t.GetUrl()
	}
	return t.GetUrl() + " by proxy " + t.GetProxyUrl()
}

// reach resolves the target and opens a connection to it.
func (p *plan) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	return p.target.Probe(ctx)
}
