package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redisconn"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// A command to a Redis that answers takes a fraction of a millisecond. timeout is
// for one that does not: the time to wait for a connection, to connect, to write
// and to read, each. It is long enough for a machine that is busy with a load test.
// The caller's context bounds all of them together.
const timeout = 2 * time.Second

const (
	keyPrefix   = "ratelimit:tb:"
	fieldTokens = "tokens"
	fieldLast   = "last_refill"
)

// Options say how Redis is reached.
type Options = redisconn.Options

// Store is a pool of connections to one Redis.
type Store struct {
	client *redis.Client
}

// Open returns a store; it connects when it is first used.
func Open(o Options) (*Store, error) {
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	config.PoolTimeout, config.DialTimeout = timeout, timeout
	config.ReadTimeout, config.WriteTimeout = timeout, timeout
	// A command whose reply was lost may have taken its token. Sent again it would
	// take a second one, so that it fails instead.
	return &Store{client: redis.NewClient(config)}, nil
}

// Ping reports whether Redis answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// Close closes every connection.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close redis: %w", err)
	}
	return nil
}

// Config says what a limiter keeps and how.
type Config struct {
	Strategy ratelimiter.Strategy
	Contract ratelimiter.Contract
	// Now is the replica's clock, by which Hash and LuaSeconds count.
	Now func() time.Time
	// MaxRetries bounds how often Transaction and Transaction429 try again after a
	// conflict.
	MaxRetries int
	// Guard is asked before Redis is; nil lets every question through.
	Guard Guard
}

// Limiter returns the limiter of the configured strategy.
func (s *Store) Limiter(c Config) (ratelimiter.Limiter, error) {
	if err := c.Contract.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		return nil, errors.New("limiter has no clock: set Now")
	}
	if c.MaxRetries < 0 {
		return nil, fmt.Errorf("max retries is %d: use 0 or more", c.MaxRetries)
	}
	if c.Guard == nil {
		c.Guard = unguarded
	}
	buckets := buckets{contract: c.Contract}
	switch c.Strategy {
	case ratelimiter.Hash:
		return guarded{&hash{client: s.client, buckets: buckets, now: wholeSeconds(c.Now)}, c.Guard}, nil
	case ratelimiter.Transaction, ratelimiter.Transaction429:
		return guarded{&transaction{
			client: s.client, buckets: buckets, maxRetries: c.MaxRetries,
			deniesContended: c.Strategy == ratelimiter.Transaction429,
		}, c.Guard}, nil
	case ratelimiter.Lua:
		return newScript(s.client, c.Contract, nil, c.Guard), nil
	case ratelimiter.LuaSeconds:
		return newScript(s.client, c.Contract, wholeSeconds(c.Now), c.Guard), nil
	}
	_, err := ratelimiter.ParseStrategy(string(c.Strategy))
	return nil, err
}

// wholeSeconds is a clock that, like the seed's, has no fraction of a second.
func wholeSeconds(now func() time.Time) func() time.Time {
	return func() time.Time { return now().Truncate(time.Second) }
}
