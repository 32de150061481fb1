package redis

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// seed is the contract of the published experiment.
var seed = ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}

// A burst of 200 in 20 ms that straddles the turn of a second. The true bound
// is 50 + 10 * 0.02 = 50.2 tokens; a clock that counts whole seconds counts a
// second pass and grants 60.
func TestBurstAcrossSecondBoundary(t *testing.T) {
	tests := map[string]struct {
		limiter func(*Store, func() time.Time) ratelimiter.Limiter
		want    limitertest.Tally
	}{
		"hash": {
			limiter: configured(ratelimiter.Hash),
			want:    limitertest.Tally{Granted: 10, Denied: 90},
		},
		"lua-seconds": {
			limiter: configured(ratelimiter.LuaSeconds),
			want:    limitertest.Tally{Granted: 10, Denied: 90},
		},
		"the same script by a clock with fractions": {
			limiter: func(s *Store, now func() time.Time) ratelimiter.Limiter {
				return newScript(s.client, seed, now, unguarded)
			},
			want: limitertest.Tally{Granted: 0, Denied: 100},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clock := &manual{now: epoch.Add(990 * time.Millisecond)}
			limiter := tc.limiter(openStore(t), clock.Now)
			before := limitertest.Sequential(t, limiter, "client", 100)
			same.As(t, "before the turn", limitertest.Tally{Granted: 50, Denied: 50}, before)
			clock.pass("client", 20*time.Millisecond)
			same.As(t, "after the turn", tc.want, limitertest.Sequential(t, limiter, "client", 100))
		})
	}
}

func configured(s ratelimiter.Strategy) func(*Store, func() time.Time) ratelimiter.Limiter {
	return func(store *Store, now func() time.Time) ratelimiter.Limiter {
		limiter, err := store.Limiter(Config{Strategy: s, Contract: seed, Now: now})
		if err != nil {
			panic(err)
		}
		return limiter
	}
}

// The strategies that keep the contract count by the server's clock, in
// microseconds, whatever the replica's says.
func TestTheServersClockRefillsForAllReplicas(t *testing.T) {
	for _, strategy := range []ratelimiter.Strategy{ratelimiter.Lua, ratelimiter.Transaction, ratelimiter.Transaction429} {
		t.Run(string(strategy), func(t *testing.T) {
			store := openStore(t)
			wrong := &manual{now: epoch.AddDate(100, 0, 0)}
			limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: wrong.Now})

			before, err := store.client.Time(t.Context()).Result()
			must.Succeed(t, err)
			limitertest.Sequential(t, limiter, "client", 1)
			after, err := store.client.Time(t.Context()).Result()
			must.Succeed(t, err)
			if last := stored(t, store.client, "client").Last; last.Before(before) || last.After(after) {
				t.Errorf("last refill %v is outside of %v to %v, the server's time", last, before, after)
			}
		})
	}
}

func TestReplicaClockInWholeSeconds(t *testing.T) {
	for _, strategy := range []ratelimiter.Strategy{ratelimiter.Hash, ratelimiter.LuaSeconds} {
		t.Run(string(strategy), func(t *testing.T) {
			store, clock := openStore(t), &manual{now: epoch.Add(1999 * time.Millisecond)}
			limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: clock.Now})
			limitertest.Sequential(t, limiter, "client", 3)
			want := ratelimiter.Bucket{Tokens: 47, Last: epoch.Add(time.Second)}
			same.As(t, "stored bucket", want, stored(t, store.client, "client"))
		})
	}
}

// A server whose clock was set back, or a replica that is behind another, must
// not refill the same time twice: the stored instant stays where it is.
func TestClockRunsBackwards(t *testing.T) {
	for _, strategy := range ratelimiter.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			subject := factory(strategy)(t, ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01})
			limitertest.Sequential(t, subject.Limiter, "client", 40)
			subject.Pass("client", -time.Hour)
			want := limitertest.Tally{Granted: 10, Denied: 20}
			same.As(t, "an hour earlier", want, limitertest.Sequential(t, subject.Limiter, "client", 30))
		})
	}
}
