package redis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
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
			if diff := cmp.Diff(limitertest.Tally{Granted: 50, Denied: 50}, before); diff != "" {
				t.Errorf("before the turn (-want +got):\n%s", diff)
			}
			clock.pass("client", 20*time.Millisecond)
			if diff := cmp.Diff(tc.want, limitertest.Sequential(t, limiter, "client", 100)); diff != "" {
				t.Errorf("after the turn (-want +got):\n%s", diff)
			}
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
func TestServerClock(t *testing.T) {
	for _, strategy := range []ratelimiter.Strategy{ratelimiter.Lua, ratelimiter.Transaction, ratelimiter.Transaction429} {
		t.Run(string(strategy), func(t *testing.T) {
			store := openStore(t)
			wrong := &manual{now: epoch.AddDate(100, 0, 0)}
			limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: wrong.Now})

			before, err := store.client.Time(t.Context()).Result()
			if err != nil {
				t.Fatal(err)
			}
			limitertest.Sequential(t, limiter, "client", 1)
			after, err := store.client.Time(t.Context()).Result()
			if err != nil {
				t.Fatal(err)
			}
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
			if diff := cmp.Diff(want, stored(t, store.client, "client")); diff != "" {
				t.Errorf("stored bucket (-want +got):\n%s", diff)
			}
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
			if diff := cmp.Diff(want, limitertest.Sequential(t, subject.Limiter, "client", 30)); diff != "" {
				t.Errorf("an hour earlier (-want +got):\n%s", diff)
			}
		})
	}
}
