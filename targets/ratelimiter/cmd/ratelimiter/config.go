package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/redis"
)

const usage = `ratelimiter answers GET /api for as many requests as a client's token bucket holds.

Replicas share the buckets in Redis. How they share them is the strategy:

  hash         read, compute, write back: fast, and wrong under concurrency
  transaction  WATCH/MULTI: correct; a contended request ends as 503
  transaction-429
               the same, but a contended request is denied: falsely
  lua          one script in Redis, by Redis's clock: correct
  lua-seconds  the same by the replica's clock in whole seconds: a burst across
               the turn of a second is granted a whole second's refill at once

Try it:

  redis-server --save '' &
  ratelimiter --strategy lua --capacity 5 --refill-rate 1 &
  ratelimiter check --url http://localhost:8080
  for i in 1 2 3 4 5 6; do curl -i http://localhost:8080/api; done

ratelimiter check calls a running one as a client would, and says what is wrong:
see ratelimiter check --help.

With --grpc-address it answers gRPC too, on a port of its own and without TLS
(h2c), with reflection and the health service. ratelimiter descriptors writes the
descriptor set of that API, for clients that do not ask by reflection.

Each flag can be given as the environment variable beside it; the flag wins.
The password of Redis is read from REDIS_PASSWORD only, since a command line is
there for all to see.

`

// config is what the command line and the environment say.
type config struct {
	port           int
	grpcAddress    string
	redis          redis.Options
	strategy       ratelimiter.Strategy
	contract       ratelimiter.Contract
	maxRetries     int
	onStoreFailure ratelimiter.FailurePolicy
	trustedProxies []netip.Prefix
	shutdownDelay  time.Duration
}

// parseConfig reads the flags, and the environment where there is no flag. Help
// is written to out, and returned as flag.ErrHelp.
func parseConfig(args []string, getenv func(string) string, out io.Writer) (config, error) {
	var c config
	set := settings.New("ratelimiter", usage, getenv)
	set.Int(&c.port, "port", "PORT", "8080", "`port` to listen on; 0 takes a free one")
	set.String(&c.grpcAddress, "grpc-address", "GRPC_ADDRESS", "", "`host:port` to serve gRPC on, such as :9090; none: HTTP only")
	set.String(&c.redis.Addr, "redis-addr", "REDIS_ADDR", "localhost:6379", "`host:port` of Redis, or the path of its socket")
	set.Int(&c.redis.DB, "redis-db", "REDIS_DB", "0", "`number` of the database in Redis")
	set.Int(&c.redis.PoolSize, "redis-pool-size", "REDIS_POOL_SIZE", "20", "largest `number` of connections to Redis")
	settings.Value(set, &c.strategy, "strategy", "LIMITER_STRATEGY", string(ratelimiter.Lua), "`name` of the strategy", ratelimiter.ParseStrategy)
	settings.Value(set, &c.contract.Capacity, "capacity", "LIMITER_CAPACITY", "50", "`tokens` in a full bucket", settings.Whole)
	settings.Value(set, &c.contract.RefillPerSecond, "refill-rate", "LIMITER_REFILL_RATE", "10", "`tokens` that come back per second, fractions allowed", settings.Number)
	set.Int(&c.maxRetries, "max-retries", "MAX_RETRIES", "10", "`times` that the transaction strategies try again")
	settings.Value(set, &c.onStoreFailure, "on-store-failure", "LIMITER_ON_STORE_FAILURE", string(ratelimiter.Closed),
		"`policy` when Redis fails: closed answers 503, open grants without counting; a replica that has reached Redis once stays ready", ratelimiter.ParseFailurePolicy)
	settings.Value(set, &c.trustedProxies, "trusted-proxies", "TRUSTED_PROXIES", "", "comma-separated `networks` (CIDR) whose X-Forwarded-For names the client; none: the peer is the client",
		settings.Networks)
	set.Duration(&c.shutdownDelay, "shutdown-delay", "SHUTDOWN_DELAY", "0s", "`time` to serve on after SIGTERM, until no new clients are sent here")
	if err := set.Parse(args, out); err != nil {
		return config{}, err
	}
	c.redis.Password = getenv("REDIS_PASSWORD")
	return c, c.validate()
}

func (c config) validate() error {
	errs := []error{c.contract.Validate()}
	if c.port < 0 || c.port > 65535 {
		errs = append(errs, fmt.Errorf("--port (PORT) is %d: use 0 to 65535", c.port))
	}
	if c.shutdownDelay < 0 {
		errs = append(errs, fmt.Errorf("--shutdown-delay (SHUTDOWN_DELAY) is %v: use 0s or more", c.shutdownDelay))
	}
	return errors.Join(errs...)
}
