package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// attemptTimeout bounds an attempt to store a batch.
const attemptTimeout = 10 * time.Second

// Store stores clicks that were delivered.
type Store struct {
	Clicks shortener.ClickStore
	// Count is told of ClickStored and ClickDuplicate.
	Count shortener.Count
	Log   *slog.Logger
}

// Add stores clicks, and tries until it succeeds or ctx ends, with which it fails. An
// attempt that has begun is not broken off. One that fails may have stored some, where
// another shard is down; they are counted at once, since the next attempt does not
// find them new.
func (s Store) Add(ctx context.Context, clicks []shortener.Click) error {
	added := 0
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
		defer cancel()
		n, err := s.Clicks.AddClicks(ctx, clicks)
		added += n
		s.Count(shortener.ClickStored, n)
		return struct{}{}, err
	}, backoff.WithBackOff(Retries()), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, next time.Duration) {
			s.Log.Warn("store clicks", "error", err, "clicks", len(clicks), "retry", next)
		}))
	if err != nil {
		return fmt.Errorf("store clicks: %w", err)
	}
	s.Count(shortener.ClickDuplicate, len(clicks)-added)
	return nil
}

// Retries are the pauses between attempts, for whoever waits for a service to come
// back: soon at first, and then often enough to be there when it does.
func Retries() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, time.Second
	return b
}
