package redis

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestConformance(t *testing.T) {
	for _, strategy := range ratelimiter.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			limitertest.Run(t, factory(strategy))
			if strategy != ratelimiter.Hash {
				limitertest.RunAtomic(t, factory(strategy))
			}
			if strategy != ratelimiter.Hash && strategy != ratelimiter.Transaction429 {
				limitertest.RunHonest(t, factory(strategy))
			}
		})
	}
}

// A script cannot lose a race, so that a burst gets all its tokens.
func TestScriptGrantsAllOfABurst(t *testing.T) {
	for _, strategy := range []ratelimiter.Strategy{ratelimiter.Lua, ratelimiter.LuaSeconds} {
		t.Run(string(strategy), func(t *testing.T) {
			s := factory(strategy)(t, ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01})
			want := limitertest.Tally{Granted: 50, Denied: 150}
			same.As(t, "tally of a concurrent burst", want, limitertest.Burst(t, s.Limiter, "client"))
		})
	}
}

// The strategies write the same form, so that one can follow another on the same
// Redis and keep the tokens that each client has spent.
func TestStrategiesShareBuckets(t *testing.T) {
	store := openStore(t)
	now, err := store.client.Time(t.Context()).Result()
	must.Succeed(t, err)
	contract := ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01}
	for i, strategy := range ratelimiter.Strategies() {
		limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: contract, Now: (&manual{now: now}).Now})
		got, err := limiter.Take(t.Context(), "client")
		if err != nil {
			t.Fatalf("%s: %v", strategy, err)
		}
		want := ratelimiter.Decision{Allowed: true, Remaining: int64(49 - i)}
		same.As(t, string(strategy)+": decision", want, got)
	}
}
