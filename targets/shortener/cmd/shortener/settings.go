package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/kafka"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
)

// off is the variant that every choice has.
const off = "off"

const secrets = `Each flag can be given as the environment variable beside it; the flag wins.
Passwords are read from POSTGRES_PASSWORD and REDIS_PASSWORD only, since a
command line is there for all to see.

`

// listening is how a process is asked.
type listening struct {
	port          int
	shutdownDelay time.Duration
}

func (l *listening) add(set *settings.Settings) {
	set.Int(&l.port, "port", "PORT", "8080", "`port` to listen on; 0 takes a free one")
	set.Duration(&l.shutdownDelay, "shutdown-delay", "SHUTDOWN_DELAY", "0s",
		"`time` to serve on after SIGTERM, until no new clients are sent here")
}

func (l *listening) validate() error {
	var errs []error
	if l.port < 0 || l.port > 65535 {
		errs = append(errs, fmt.Errorf("--port (PORT) is %d: use 0 to 65535", l.port))
	}
	if l.shutdownDelay < 0 {
		errs = append(errs, fmt.Errorf("--shutdown-delay (SHUTDOWN_DELAY) is %v: use 0s or more", l.shutdownDelay))
	}
	return errors.Join(errs...)
}

// addShards adds where the databases are and how they are used: options of
// which all but Addr and Now are every shard's.
func addShards(set *settings.Settings, addrs *[]string, o *postgres.Options) {
	settings.Value(set, addrs, "postgres-shards", "POSTGRES_SHARDS", "localhost:5432",
		"comma-separated `host:port` of 1 to 3 shards, in the order of their names on the ring (shard0, shard1, shard2); databases that were made with others are refused",
		shardAddrs)
	set.String(&o.Database, "postgres-database", "POSTGRES_DATABASE", "shortener", "`name` of the database in every shard")
	set.String(&o.User, "postgres-user", "POSTGRES_USER", "shortener", "`name` of the user in every shard")
	settings.Value(set, &o.Connections, "postgres-connections", "POSTGRES_CONNECTIONS", string(postgres.Unlimited),
		"how `connections` are held: unlimited (one per request in flight), pool (in this process), or pgbouncer (the shards are PgBouncers in transaction mode)",
		postgres.ParseConnections)
	set.Int(&o.PoolSize, "postgres-pool-size", "POSTGRES_POOL_SIZE", "100", "`connections` in the pool, per shard and replica")
	set.Bool(&o.LinkIndex, "link-index", "LINK_INDEX", "on", "`on` keeps an index on (short_code, expires_at), off drops it; whichever command starts last decides")
}

func shardAddrs(list string) ([]string, error) {
	addrs := split(list)
	if len(addrs) < 1 || len(addrs) > shortener.MaxShards {
		return nil, fmt.Errorf("%d shards: use 1 to %d", len(addrs), shortener.MaxShards)
	}
	for i, addr := range addrs {
		if err := postgres.ValidateAddr(addr); err != nil {
			return nil, err
		}
		if slices.Contains(addrs[:i], addr) {
			return nil, fmt.Errorf("%q is there twice: two shards in one database would count each link twice", addr)
		}
	}
	return addrs, nil
}

func split(list string) []string {
	var all []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

func addLinks(set *settings.Settings, codeLength *int, ttl *time.Duration) {
	set.Int(codeLength, "code-length", "CODE_LENGTH", "6", "`length` of codes that are no aliases, 1 to 30")
	set.Duration(ttl, "link-ttl", "LINK_TTL", "8760h", "`time` that a link lives")
}

func addCache(set *settings.Settings, cache *string) {
	addChoice(set, cache, "cache", "CACHE", "`cache` in front of the database: off or redis", off, cacheRedis)
}

func addRedis(set *settings.Settings, o *redis.Options) {
	set.String(&o.Addr, "redis-addr", "REDIS_ADDR", "localhost:6379", "`host:port` of Redis, or the path of its socket")
	set.Int(&o.DB, "redis-db", "REDIS_DB", "0", "`number` of the database in Redis")
	set.Int(&o.PoolSize, "redis-pool-size", "REDIS_POOL_SIZE", "100", "largest `number` of connections to Redis")
}

func addKafka(set *settings.Settings, c *kafka.Config) {
	set.Parsed("kafka-brokers", "KAFKA_BROKERS", "localhost:9092", "comma-separated `host:port` of some brokers", func(v string) error {
		c.Brokers = split(v)
		return nil
	})
	set.String(&c.Topic, "kafka-topic", "KAFKA_TOPIC", "clicks", "`name` of the topic of clicks")
}

// addChoice adds a setting that is one of a few words.
func addChoice(set *settings.Settings, p *string, name, env, help string, choices ...string) {
	set.Parsed(name, env, choices[0], help, func(v string) error {
		if !slices.Contains(choices, v) {
			return fmt.Errorf("use one of %s", strings.Join(choices, ", "))
		}
		*p = v
		return nil
	})
}
