package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// one is a contract under which a second grant is always one too many.
var one = ratelimiter.Contract{Capacity: 1, RefillPerSecond: 0.001}

// A replica that comes in between another's read and write is granted the same
// token: the race of the seed, without the luck.
func TestHashGrantsOneTokenTwice(t *testing.T) {
	store, clock := openStore(t), &manual{now: epoch}
	config := Config{Strategy: ratelimiter.Hash, Contract: one, Now: clock.Now}
	slow, quick := newLimiter(t, store, config), newLimiter(t, store, config)
	var tally limitertest.Tally
	slow.(guarded).next.(*hash).afterRead = func() { tally = limitertest.Sequential(t, quick, "client", 2) }

	got, err := slow.Take(t.Context(), "client")
	must.Succeed(t, err)
	if want := (ratelimiter.Decision{Allowed: true}); got != want {
		t.Errorf("decision of the slow replica = %+v, want %+v", got, want)
	}
	same.As(t, "tally of the quick replica", limitertest.Tally{Granted: 1, Denied: 1}, tally)
}

// The same interleaving, a hundred tokens deep: a slow writer puts back the
// tokens that others have spent meanwhile.
func TestHashOverwritesConcurrentUpdates(t *testing.T) {
	store, clock := openStore(t), &manual{now: epoch}
	contract := ratelimiter.Contract{Capacity: 100, RefillPerSecond: 0.01}
	config := Config{Strategy: ratelimiter.Hash, Contract: contract, Now: clock.Now}
	slow, quick := newLimiter(t, store, config), newLimiter(t, store, config)
	slow.(guarded).next.(*hash).afterRead = func() { limitertest.Sequential(t, quick, "client", 100) }

	if _, err := slow.Take(t.Context(), "client"); err != nil {
		t.Fatal(err)
	}
	want := limitertest.Tally{Granted: 99, Denied: 1}
	same.As(t, "tally after 101 grants of 100", want, limitertest.Sequential(t, quick, "client", 100))
}

func TestTransactionTriesAgain(t *testing.T) {
	store := openStore(t)
	config := Config{Strategy: ratelimiter.Transaction, Contract: one, Now: (&manual{}).Now, MaxRetries: 1}
	slow, quick := newLimiter(t, store, config), newLimiter(t, store, config)
	var tally limitertest.Tally
	tries := 0
	slow.(guarded).next.(*transaction).afterRead = func() {
		if tries++; tries == 1 {
			tally = limitertest.Sequential(t, quick, "client", 1)
		}
	}

	got, err := slow.Take(t.Context(), "client")
	must.Succeed(t, err)
	if got.Allowed || tries != 2 {
		t.Errorf("decision = %+v after %d tries, want denied after 2", got, tries)
	}
	same.As(t, "tally of the quick replica", limitertest.Tally{Granted: 1}, tally)
}

func TestTransactionGivesUpAsContended(t *testing.T) {
	for name, retries := range map[string]int{"no retry": 0, "ten retries": 10} {
		t.Run(name, func(t *testing.T) {
			store := openStore(t)
			contract := ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01}
			config := Config{Strategy: ratelimiter.Transaction, Contract: contract, Now: (&manual{}).Now, MaxRetries: retries}
			unlucky, lucky := newLimiter(t, store, config), newLimiter(t, store, config)
			tries := 0
			unlucky.(guarded).next.(*transaction).afterRead = func() {
				tries++
				limitertest.Sequential(t, lucky, "client", 1)
			}

			_, err := unlucky.Take(t.Context(), "client")
			if !errors.Is(err, ratelimiter.ErrContended) {
				t.Errorf("error = %v, want ErrContended", err)
			}
			if want := 1 + retries; tries != want {
				t.Errorf("gave up after %d tries, want %d", tries, want)
			}
			if got, want := stored(t, store.client, "client").Tokens, float64(50-tries); got < want || got > want+0.9 {
				t.Errorf("%v tokens left, want %v: one for each try of the other replica", got, want)
			}
		})
	}
}

// The flaw of the seed, without the luck: a client with 39 tokens left is denied.
func TestTransaction429DeniesFalsely(t *testing.T) {
	store := openStore(t)
	contract := ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01}
	config := Config{Strategy: ratelimiter.Transaction429, Contract: contract, Now: (&manual{}).Now, MaxRetries: 10}
	unlucky, lucky := newLimiter(t, store, config), newLimiter(t, store, config)
	unlucky.(guarded).next.(*transaction).afterRead = func() { limitertest.Sequential(t, lucky, "customer", 1) }

	got, err := unlucky.Take(t.Context(), "customer")
	must.Succeed(t, err)
	same.As(t, "decision", ratelimiter.Decision{RetryAfter: 100 * time.Second}, got)
	if got := stored(t, store.client, "customer").Tokens; got < 39 || got > 39.9 {
		t.Errorf("%v tokens left, want 39", got)
	}
}
