package main

import (
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settingstest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/redis"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func defaults() config {
	return config{
		port:       8080,
		redis:      redis.Options{Addr: "localhost:6379", PoolSize: 20},
		strategy:   ratelimiter.Lua,
		contract:   ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10},
		maxRetries: 10,

		onStoreFailure: ratelimiter.Closed,
	}
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	tests := map[string]struct {
		args   []string
		env    map[string]string
		change func(*config)
	}{
		"nothing given": {change: func(*config) {}},
		"by environment": {
			env: map[string]string{
				"PORT": "1783", "GRPC_ADDRESS": ":9090", "REDIS_ADDR": "redis:6380", "REDIS_PASSWORD": "secret", "REDIS_DB": "3", "REDIS_POOL_SIZE": "7",
				"LIMITER_STRATEGY": "lua-seconds", "LIMITER_CAPACITY": "20", "LIMITER_REFILL_RATE": "0.5", "MAX_RETRIES": "0",
				"TRUSTED_PROXIES": "10.1.2.3/8, fd00::/8,", "SHUTDOWN_DELAY": "3s",
				"LIMITER_ON_STORE_FAILURE": "open",
			},
			change: func(c *config) {
				*c = config{
					port:        1783,
					grpcAddress: ":9090",
					redis:       redis.Options{Addr: "redis:6380", Password: "secret", DB: 3, PoolSize: 7},
					strategy:    ratelimiter.LuaSeconds,
					contract:    ratelimiter.Contract{Capacity: 20, RefillPerSecond: 0.5},
					maxRetries:  0,

					onStoreFailure: ratelimiter.Open,
					trustedProxies: []netip.Prefix{
						netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"),
					},
					shutdownDelay: 3 * time.Second,
				}
			},
		},
		"by flag": {
			args:   []string{"--strategy=hash", "--capacity", "5", "-port=0"},
			change: func(c *config) { c.strategy, c.contract.Capacity, c.port = ratelimiter.Hash, 5, 0 },
		},
		"the flag wins, even over nonsense": {
			args:   []string{"--capacity=5"},
			env:    map[string]string{"LIMITER_CAPACITY": "many"},
			change: func(c *config) { c.contract.Capacity = 5 },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			tc.change(&want)
			got, err := parseConfig(tc.args, servetest.Environment(tc.env), io.Discard)
			must.Succeed(t, err)
			opts := cmp.Options{cmp.AllowUnexported(config{}), cmpopts.EquateComparable(netip.Prefix{})}
			same.As(t, "config", want, got, opts)
		})
	}
}

// parse is parseConfig without the configuration.
func parse(args []string, getenv func(string) string, out io.Writer) error {
	_, err := parseConfig(args, getenv, out)
	return err
}

func TestParseConfigRefuses(t *testing.T) {
	settingstest.Refuses(t, parse, map[string]settingstest.Mistake{
		"an unknown strategy": {Args: []string{"--strategy=magic"}, Want: `invalid value "magic" for flag -strategy: unknown strategy "magic": use one of hash, transaction, transaction-429, lua, lua-seconds`},
		"an unknown policy":   {Args: []string{"--on-store-failure=half"}, Want: `invalid value "half" for flag -on-store-failure: unknown policy "half": use closed or open`},
		"time that is past":   {Args: []string{"--shutdown-delay=-3s"}, Want: "--shutdown-delay (SHUTDOWN_DELAY) is -3s: use 0s or more"},
		"no such port":        {Env: map[string]string{"PORT": "65536"}, Want: "--port (PORT) is 65536: use 0 to 65535"},
		"no contract":         {Args: []string{"--capacity=0"}, Want: "capacity is 0: use 1 to 1000000000 tokens"},
	})
}

// The help names every setting in both its forms, and every strategy.
func TestHelpNamesEverySetting(t *testing.T) {
	settingstest.Helps(t, parse,
		"-port", "PORT", "-grpc-address", "GRPC_ADDRESS", "-redis-addr", "REDIS_ADDR", "REDIS_PASSWORD", "-redis-db", "REDIS_DB", "-redis-pool-size", "REDIS_POOL_SIZE",
		"-strategy", "LIMITER_STRATEGY", "-capacity", "LIMITER_CAPACITY", "-refill-rate", "LIMITER_REFILL_RATE",
		"-max-retries", "MAX_RETRIES", "-on-store-failure", "LIMITER_ON_STORE_FAILURE", "-trusted-proxies", "TRUSTED_PROXIES", "-shutdown-delay", "SHUTDOWN_DELAY",
		"  hash ", "  transaction ", "  transaction-429", "  lua ", "  lua-seconds ",
	)
}
