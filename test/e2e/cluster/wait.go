package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const (
	// Patience is how long anything may take on two busy cores: to come up, or a run to its end.
	// The longest wait is for a broker, which reassigns the partitions of a consumer that was
	// killed after a session timeout of up to 45 s: the audit of the clicks waits for up to 2 min.
	Patience = 4 * time.Minute
	// onePatience is how long a single look may take: the API server may be stopped meanwhile.
	onePatience = 5 * time.Second
)

// Try looks until there is no error, or the limit is over. It then returns what was seen last.
func Try(ctx context.Context, limit time.Duration, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("given up after %s", limit))
	defer cancel()
	var seen error
	err := await.Try(ctx, func(ctx context.Context) error {
		once, cancel := context.WithTimeout(ctx, onePatience)
		defer cancel()
		err := look(once)
		if ctx.Err() == nil {
			seen = err
		}
		return err
	})
	if err != nil {
		return errors.Join(seen, context.Cause(ctx))
	}
	return nil
}

// Soon looks until there is no error, and ends the test when Patience is over.
func Soon(t *testing.T, look func(context.Context) error) {
	t.Helper()
	must.Succeed(t, Try(t.Context(), Patience, look))
}

// SleepUntil waits until an instant; it returns at once if that has passed.
func SleepUntil(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
