package redis

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var epoch = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// manual is a replica's clock that tests advance.
type manual struct{ now time.Time }

func (m *manual) Now() time.Time { return m.now }

func (m *manual) pass(_ string, d time.Duration) { m.now = m.now.Add(d) }

func openStore(t *testing.T) *Store {
	t.Helper()
	store, err := Open(Options{Addr: redistest.Start(t), PoolSize: 20})
	must.Succeed(t, err)
	must.Close(t, store)
	return store
}

func newLimiter(t *testing.T, s *Store, c Config) ratelimiter.Limiter {
	t.Helper()
	limiter, err := s.Limiter(c)
	must.Succeed(t, err)
	return limiter
}

// factory makes subjects of a strategy. Where the strategy counts by the
// replica's clock, time passes on that clock; where it counts by the server's,
// which no test may set, the stored instant is moved into the past instead.
func factory(strategy ratelimiter.Strategy) limitertest.Factory {
	return func(t *testing.T, c ratelimiter.Contract) limitertest.Subject {
		store, clock := openStore(t), &manual{now: epoch}
		pass := clock.pass
		if slices.Contains([]ratelimiter.Strategy{ratelimiter.Lua, ratelimiter.Transaction, ratelimiter.Transaction429}, strategy) {
			pass = func(client string, d time.Duration) { rewind(t, store.client, client, d) }
		}
		return limitertest.Subject{
			Limiter:  newLimiter(t, store, Config{Strategy: strategy, Contract: c, Now: clock.Now, MaxRetries: 10}),
			Pass:     pass,
			Lifetime: func(client string) time.Duration { return lifetime(t, store.client, client) },
		}
	}
}

func rewind(t *testing.T, c *redis.Client, client string, d time.Duration) {
	t.Helper()
	if err := c.HIncrBy(t.Context(), "ratelimit:tb:"+client, "last_refill", -d.Microseconds()).Err(); err != nil {
		t.Fatalf("move the last refill of %s into the past: %v", client, err)
	}
}

func lifetime(t *testing.T, c *redis.Client, client string) time.Duration {
	t.Helper()
	left, err := c.PTTL(t.Context(), "ratelimit:tb:"+client).Result()
	if err != nil {
		t.Fatalf("ask for the lifetime of %s: %v", client, err)
	}
	return max(0, left) // negative: no such key, or no lifetime
}

func stored(t *testing.T, c *redis.Client, client string) ratelimiter.Bucket {
	t.Helper()
	fields, err := c.HGetAll(t.Context(), "ratelimit:tb:"+client).Result()
	if err != nil {
		t.Fatalf("read the bucket of %s: %v", client, err)
	}
	tokens, err1 := strconv.ParseFloat(fields["tokens"], 64)
	micros, err2 := strconv.ParseInt(fields["last_refill"], 10, 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("stored bucket of %s is %v", client, fields)
	}
	return ratelimiter.Bucket{Tokens: tokens, Last: time.UnixMicro(micros).UTC()}
}
