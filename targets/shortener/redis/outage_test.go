package redis

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// newUnreachable is a client of a Redis that does not exist.
func newUnreachable(t testing.TB) *Client { return open(t, t.TempDir()+"/absent") }

func TestFindDuringRedisOutage(t *testing.T) {
	outages := map[string]struct {
		begin, end func(*redistest.Server, testing.TB)
	}{
		"crashed": {begin: (*redistest.Server).Crash, end: (*redistest.Server).Start},
		"hanging": {begin: (*redistest.Server).Hang, end: (*redistest.Server).Resume},
	}
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			server := redistest.New(t)
			known := link("known", time.Hour)
			finder := newLinks(known)
			var y tally
			cache := newCache(t, open(t, server.Addr()), finder, func(c *CacheConfig) {
				c.Count, c.Timeout, c.Pause = y.count, 100*time.Millisecond, time.Millisecond
			})
			want(t, cache, "known", known)
			before := y.all()[shortener.CacheFailure] // of a machine that is busy
			outage.begin(server, t)
			// More than the breaker allows to fail, so that it is passed open
			// and half open too.
			for range 2 * failuresToOpen {
				want(t, cache, "known", known)
				want(t, cache, "unknown")
			}
			if err := cache.Put(t.Context(), link("new", time.Hour)); err == nil {
				t.Error("a link was put into a cache that is away")
			}
			same.As(t, "counted failures", 4*failuresToOpen, y.all()[shortener.CacheFailure]-before)
			outage.end(server, t)
			await.True(t, "links are found in Redis again", func() bool {
				want(t, cache, "known", known)
				return y.all()[shortener.CacheHit] > 0
			})
		})
	}
}

// The breaker opens after five failures in a row, stays open for 30 s, and closes
// after two successes, in simulated time.
func TestBreakerOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newUnreachable(t)
		known := link("known", time.Hour)
		cache := newCache(t, client, newLinks(known), nil)
		commands, broken := 0, true
		cache.mget = func(_ context.Context, keys ...string) *redis.SliceCmd {
			commands++
			if broken {
				return redis.NewSliceResult(nil, errors.New("broken"))
			}
			return redis.NewSliceResult([]any{string(encodeEntry(known)), nil}, nil)
		}
		steps := []struct {
			name    string
			wait    time.Duration
			answers bool
			finds   int
			asked   int
		}{
			{name: "five failures", finds: 5, asked: 5},
			{name: "open", finds: 20, asked: 5},
			{name: "nearly half open", wait: 30 * time.Second, finds: 20, asked: 5},
			{name: "half open, and fails", wait: time.Second, finds: 20, asked: 6},
			{name: "open again", wait: 29 * time.Second, answers: true, finds: 20, asked: 6},
			{name: "half open, and succeeds once", wait: 2 * time.Second, answers: true, finds: 1, asked: 7},
			{name: "fails after one success", finds: 1, asked: 8},
			{name: "open for the third time", answers: true, finds: 20, asked: 8},
			{name: "half open, and closes", wait: 31 * time.Second, answers: true, finds: 2, asked: 10},
			{name: "closed", answers: true, finds: 20, asked: 30},
			{name: "four failures", finds: 4, asked: 34},
			{name: "closed still", answers: true, finds: 20, asked: 54},
		}
		for _, step := range steps {
			<-time.After(step.wait)
			broken = !step.answers
			for range step.finds {
				want(t, cache, "known", known)
			}
			if commands != step.asked {
				t.Errorf("%s: Redis was asked %d times so far, want %d", step.name, commands, step.asked)
			}
		}
	})
}

// Concurrent misses share one lookup; the first caller may be canceled, and the
// others are answered.
func TestConcurrentMissesShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := link("known", time.Hour)
		finder := newLinks(known)
		finder.held = make(chan struct{})
		cache := newCache(t, newUnreachable(t), finder, nil)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := cache.Find(ctx, "known")
			left <- err
		}()
		synctest.Wait()
		var others sync.WaitGroup
		for range 20 {
			others.Go(func() { want(t, cache, "known", known) })
		}
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled caller = %v, want the end of its context", err)
		}
		close(finder.held)
		others.Wait()
		same.As(t, "questions", map[string]int{"known": 1}, finder.asked)
	})
}

// Without Redis, calls after the creation of a link do not share an earlier lookup
// that finds nothing.
func TestPutEndsFlights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finder := newLinks()
		finder.held = make(chan struct{})
		cache := newCache(t, newUnreachable(t), finder, nil)
		go want(t, cache, "abc")
		synctest.Wait()
		created := link("abc", time.Hour)
		finder.change(func() { finder.all["abc"] = created })
		if err := cache.Put(t.Context(), created); err == nil {
			t.Error("put into no Redis")
		}
		go want(t, cache, "abc", created)
		synctest.Wait()
		close(finder.held)
		synctest.Wait()
		same.As(t, "questions to the store", 2, finder.asks())
	})
}
