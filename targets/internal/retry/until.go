package retry

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The pauses between attempts: soon at first, and then often enough to be there when
// a service comes back.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// Until returns what makes attempts until one succeeds or ctx ends, with whose error
// it fails then. It logs why the others failed, as what was tried.
func Until(log *slog.Logger, what string) func(ctx context.Context, attempt func(context.Context) error) error {
	return func(ctx context.Context, attempt func(context.Context) error) error {
		pauses := backoff.NewExponentialBackOff()
		pauses.InitialInterval, pauses.MaxInterval = firstPause, longestPause
		_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, attempt(ctx) },
			backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0),
			backoff.WithNotify(func(err error, next time.Duration) { log.Warn(what, "error", err, "retry", next) }))
		return err
	}
}
