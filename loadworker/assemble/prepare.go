package assemble

import (
	"context"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// tryEvery is how often an unreachable target is tried again.
	tryEvery = time.Second
	// tryTimeout bounds one attempt.
	tryTimeout = 5 * time.Second
	// openTimeout bounds how long connections are opened before the first step is
	// ready to begin: a request without a connection opens one.
	openTimeout = 10 * time.Second
)

// Prepare waits until each target can be reached, asks it the questions of the
// preflight, runs the setup against each, and opens the connections of the first step. It
// calls notReady with the reason why it is not done yet: a *Refusal while the
// target is out of reach, or else what it is doing. Its own error is a *Refusal,
// also when ctx ends.
func (x *Assembly) Prepare(ctx context.Context, notReady func(error)) error {
	for _, s := range x.sides {
		if err := s.verify(ctx, func(err error) { notReady(x.of(s, err)) }); err != nil {
			return x.of(s, err)
		}
	}
	for _, s := range x.sides {
		if err := s.setup.run(ctx, func(err error) { notReady(x.of(s, err)) }); err != nil {
			return x.of(s, err)
		}
	}
	if x.log != nil {
		x.log.Await(ctx)
	}
	if first, ok := x.StepAfter(-1); ok {
		opening, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		x.Runner(first).Prepare(opening, first)
	}
	return nil
}

// untilReachable tries again as long as the target is out of reach. It returns
// another refusal, none, or the last when ctx ends.
func untilReachable(ctx context.Context, notReady func(error), try func(context.Context) *Refusal) error {
	for {
		refusal := try(ctx)
		switch {
		case refusal == nil:
			return nil
		case refusal.Reason != workerv1.ReasonTargetUnreachable:
			return refusal
		}
		notReady(refusal)
		select {
		case <-time.After(tryEvery):
		case <-ctx.Done():
			return refusal
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
