package assemble

import (
	"context"
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
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

// Prepare waits until the target can be reached, asks it the questions of the
// preflight, runs the setup, and opens the connections of the first step. It
// calls notReady with the reason why it is not done yet: a *Refusal while the
// target is out of reach, or else what it is doing. Its own error is a *Refusal,
// also when ctx ends.
func (x *Assembly) Prepare(ctx context.Context, notReady func(error)) error {
	if err := untilReachable(ctx, notReady, x.reach); err != nil {
		return err
	}
	if x.preflight != nil {
		notReady(errors.New("preflight: the target is being asked"))
		if err := untilReachable(ctx, notReady, x.ask); err != nil {
			return err
		}
	}
	if err := x.setup.run(ctx, notReady); err != nil {
		return err
	}
	if first, ok := x.StepAfter(-1); ok {
		opening, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		x.Runner.Prepare(opening, first)
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

// reach resolves the target and opens a connection to it.
func (x *Assembly) reach(ctx context.Context) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := x.client.Probe(ctx); err != nil {
		return &Refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target %s: %w", destination(x.target), err)}
	}
	return nil
}

// destination names a target, and the proxy at which the failure may be.
func destination(t *workerv1.Target) string {
	if t.GetProxyUrl() == "" {
		return t.GetUrl()
	}
	return t.GetUrl() + " by proxy " + t.GetProxyUrl()
}

// ask asks all questions of the preflight once.
func (x *Assembly) ask(ctx context.Context) *Refusal {
	err := x.preflight.Ask(ctx)
	var unreachable *setup.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unreachable):
		return &Refusal{workerv1.ReasonTargetUnreachable, err}
	}
	return &Refusal{workerv1.ReasonPreflightFailed, err}
}
