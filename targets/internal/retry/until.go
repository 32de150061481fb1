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

// Until returns a function that repeats attempts until one succeeds or ctx ends;
// then it returns the error of ctx. It logs the other errors, under the name of the
// attempt.
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
