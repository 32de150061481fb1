package redis

import (
	"context"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// Guard decides whether Redis is asked, by how it answered before. It puts the
// question and returns its error, or does neither and fails with ErrNotAsked. One
// question is a round trip of a script, shared or not, or one request of another
// strategy.
type Guard func(question func() error) error

func unguarded(question func() error) error { return question() }

// guarded puts each request to the guard.
type guarded struct {
	next  ratelimiter.Limiter
	guard Guard
}

var _ ratelimiter.Limiter = guarded{}

func (g guarded) Take(ctx context.Context, client string) (decision ratelimiter.Decision, err error) {
	err = g.guard(func() (err error) {
		decision, err = g.next.Take(ctx, client)
		return err
	})
	return decision, err
}
