package redis

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLimiterRefuses(t *testing.T) {
	store := openStore(t)
	valid := Config{Strategy: ratelimiter.Lua, Contract: seed, Now: func() time.Time { return epoch }}
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"strategy": {func(c *Config) { c.Strategy = "magic" }, `unknown strategy "magic": use one of hash, transaction, transaction-429, lua, lua-seconds`},
		"contract": {func(c *Config) { c.Contract.Capacity = 0 }, "capacity is 0: use 1 to 1000000000 tokens"},
		"clock":    {func(c *Config) { c.Now = nil }, "limiter has no clock: set Now"},
		"retries":  {func(c *Config) { c.MaxRetries = -1 }, "max retries is -1: use 0 or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config := valid
			tc.change(&config)
			_, err := store.Limiter(config)
			same.As(t, "error", tc.want, fmt.Sprint(err))
		})
	}
}

func TestPing(t *testing.T) {
	must.Report(t, "a running server", openStore(t).Ping(t.Context()))
	absent, err := Open(Options{Addr: filepath.Join(t.TempDir(), "absent"), PoolSize: 1})
	must.Succeed(t, err)
	if err := absent.Ping(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "ping redis: ") {
		t.Errorf("no server: error = %v, want one that begins with ping redis", err)
	}
	must.Report(t, "Close", absent.Close())
}

// What Redis cannot make sense of is an error, neither a grant nor a denial.
func TestBrokenBucketIsAnError(t *testing.T) {
	broken := map[string]func(*testing.T, *Store){
		"not a hash": func(t *testing.T, s *Store) {
			must.Succeed(t, s.client.Set(t.Context(), "ratelimit:tb:client", "x", 0).Err())
		},
		"no server": func(t *testing.T, s *Store) {
			must.Succeed(t, s.client.Close())
		},
	}
	for _, strategy := range ratelimiter.Strategies() {
		for name, breakIt := range broken {
			t.Run(string(strategy)+"/"+name, func(t *testing.T) {
				// The limiter's own store, so that its end is no second close.
				store, err := Open(Options{Addr: openStore(t).client.Options().Addr, PoolSize: 1})
				must.Succeed(t, err)
				limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: (&manual{now: epoch}).Now})
				breakIt(t, store)
				if got, err := limiter.Take(t.Context(), "client"); err == nil {
					t.Errorf("decision = %+v, want an error", got)
				}
			})
		}
	}
}

// Whatever Redis does, a command ends: none of the driver's timeouts is left
// to its default, or to nothing.
func TestEveryCommandIsBounded(t *testing.T) {
	options := openStore(t).client.Options()
	got := []time.Duration{options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout}
	want := []time.Duration{timeout, timeout, timeout, timeout}
	same.As(t, "timeouts to connect, read, write and wait", want, got)
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(Options{Addr: "redis:6379"}); err == nil || err.Error() != "redis pool size is 0: use 1 or more" {
		t.Errorf("Open() = %v, want it to name the pool", err)
	}
}
