package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/redis"
)

const usage = `ratelimiter answers GET /api for as many requests as a client's token bucket holds.

Replicas share the buckets in Redis. How they share them is the strategy:

  hash         read, compute, write back: fast, and wrong under concurrency
  transaction  WATCH/MULTI: correct; a contended request ends as 503
  lua          one script in Redis, by Redis's clock: correct
  lua-seconds  the same by the replica's clock in whole seconds: a burst across
               the turn of a second is granted a whole second's refill at once

Try it:

  redis-server --save '' &
  ratelimiter --strategy lua --capacity 5 --refill-rate 1 &
  for i in 1 2 3 4 5 6; do curl -i http://localhost:8080/api; done

Each flag can be given as the environment variable beside it; the flag wins.
The password of Redis is read from REDIS_PASSWORD only, since a command line is
there for all to see.

`

// config is what the command line and the environment say.
type config struct {
	port           int
	redis          redis.Options
	strategy       ratelimiter.Strategy
	contract       ratelimiter.Contract
	maxRetries     int
	trustedProxies []netip.Prefix
	shutdownDelay  time.Duration
}

// parseConfig reads the flags, and the environment where there is no flag. Help
// is written to out, and returned as flag.ErrHelp.
func parseConfig(args []string, getenv func(string) string, out io.Writer) (config, error) {
	var c config
	set := newSettings(getenv)
	set.int(&c.port, "port", "PORT", "8080", "`port` to listen on; 0 takes a free one")
	set.string(&c.redis.Addr, "redis-addr", "REDIS_ADDR", "localhost:6379", "`host:port` of Redis, or the path of its socket")
	set.int(&c.redis.DB, "redis-db", "REDIS_DB", "0", "`number` of the database in Redis")
	set.int(&c.redis.PoolSize, "redis-pool-size", "REDIS_POOL_SIZE", "20", "largest `number` of connections to Redis")
	set.parsed("strategy", "LIMITER_STRATEGY", string(ratelimiter.Lua), "`name` of the strategy", func(v string) (err error) {
		c.strategy, err = ratelimiter.ParseStrategy(v)
		return err
	})
	set.parsed("capacity", "LIMITER_CAPACITY", "50", "`tokens` in a full bucket", func(v string) (err error) {
		c.contract.Capacity, err = parseWhole(v)
		return err
	})
	set.parsed("refill-rate", "LIMITER_REFILL_RATE", "10", "`tokens` that come back per second, fractions allowed", func(v string) (err error) {
		c.contract.RefillPerSecond, err = parseNumber(v)
		return err
	})
	set.int(&c.maxRetries, "max-retries", "MAX_RETRIES", "10", "`times` that the transaction strategy tries again")
	set.parsed("trusted-proxies", "TRUSTED_PROXIES", "", "comma-separated `networks` (CIDR) whose X-Forwarded-For names the client; none: the peer is the client",
		func(v string) (err error) {
			c.trustedProxies, err = parsePrefixes(v)
			return err
		})
	set.parsed("shutdown-delay", "SHUTDOWN_DELAY", "0s", "`time` to serve on after SIGTERM, until no new clients are sent here",
		func(v string) (err error) {
			c.shutdownDelay, err = parseDuration(v)
			return err
		})
	if err := set.parse(args, out); err != nil {
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

func parseWhole(v string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", v)
	}
	return n, nil
}

func parseNumber(v string) (float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", v)
	}
	return n, nil
}

func parseDuration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: use the form 5s", v)
	}
	return d, nil
}

func parsePrefixes(list string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("%q is no network: use the form 10.0.0.0/8", part)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
