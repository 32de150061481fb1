package redis

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// While Redis hangs, every call returns at its own deadline: one in flight, one
// that waits for a batch, and one that waits for a connection. The client has no
// timeouts here, so that nothing but the callers' can be what ends them.
func TestHangingRedisDelaysNoDecision(t *testing.T) {
	for _, strategy := range ratelimiter.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			server := redistest.New(t)
			options, err := Options{Addr: server.Addr(), PoolSize: maxConns}.Config()
			must.Succeed(t, err)
			options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = -1, -1, time.Hour
			store := &Store{client: redis.NewClient(options)}
			must.Close(t, store)
			limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: (&manual{now: epoch}).Now})
			if _, err := limiter.Take(t.Context(), "client"); err != nil {
				t.Fatal(err)
			}
			server.Hang(t)
			// Questions that were sent come to an end when it goes on.
			t.Cleanup(func() { server.Resume(t) })
			late := time.AfterFunc(time.Minute, func() {
				t.Error("callers waited for Redis")
				server.Resume(t)
			})
			defer late.Stop()
			for range 2 { // concurrently, and after canceled calls
				takeWithShortDeadline(t, limiter, 10*maxConns)
			}
		})
	}
}

// maxConns is fewer than there are callers.
const maxConns = 3

// takeWithShortDeadline makes n concurrent calls with a short deadline each.
func takeWithShortDeadline(t *testing.T, limiter ratelimiter.Limiter, n int) {
	t.Helper()
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if got, err := limiter.Take(ctx, "client"); err == nil {
				t.Errorf("%+v of a Redis that hangs", got)
			}
		})
	}
	group.Wait()
}
