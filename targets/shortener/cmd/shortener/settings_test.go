package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func midnight() time.Time { return time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC) }

func invoke(env map[string]string, args ...string) invocation {
	return invocation{args: args, getenv: servetest.Environment(env), now: midnight, out: io.Discard}
}

func TestServeSettingsFromTheEnvironment(t *testing.T) {
	c, err := parseServe(invoke(map[string]string{
		"PORT": "9000", "API": "seed-001", "REPLICAS": "4", "TRUSTED_PROXIES": "10.0.0.0/8", "SHUTDOWN_DELAY": "3s",
		"POSTGRES_SHARDS": "a:1, b:2,c:3", "POSTGRES_DATABASE": "d", "POSTGRES_USER": "u", "POSTGRES_PASSWORD": "p",
		"POSTGRES_CONNECTIONS": "pool", "POSTGRES_POOL_SIZE": "7", "LINK_INDEX": "off", "CODE_LENGTH": "3", "LINK_TTL": "1h",
		"CACHE": "redis", "REDIS_ADDR": "r:6379", "REDIS_PASSWORD": "rp", "REDIS_DB": "2", "REDIS_POOL_SIZE": "9",
		"CACHE_TTL": "1m", "CACHE_NEGATIVE_TTL": "1s", "CLICKS": "kafka", "KAFKA_BROKERS": "k1:9092,k2:9092", "KAFKA_TOPIC": "t",
		"RATE_LIMIT": "on", "RATE_LIMIT_PER_SECOND": "2.5", "RATE_LIMIT_BURST": "4",
	}))
	must.Succeed(t, err)
	got := []any{
		c.port, c.api, c.replicas, fmt.Sprint(c.trustedProxies), c.shutdownDelay, c.baseURL,
		strings.Join(c.shards, " "), c.postgres.Database, c.postgres.User, c.postgres.Password, c.postgres.Connections, c.postgres.PoolSize, c.postgres.LinkIndex,
		c.codeLength, c.linkTTL, c.cache, c.redis.Addr, c.redis.Password, c.redis.DB, c.redis.PoolSize, c.cacheTTL, c.cacheNegativeTTL,
		c.clicks, strings.Join(c.kafka.Brokers, " "), c.kafka.Topic, c.rateLimit, c.rateLimitPerSecond, c.rateLimitBurst,
	}
	want := []any{
		9000, shortener.Seed001, 4, "[10.0.0.0/8]", 3 * time.Second, "http://localhost:9000",
		"a:1 b:2 c:3", "d", "u", "p", postgres.Pool, 7, false,
		3, time.Hour, "redis", "r:6379", "rp", 2, 9, time.Minute, time.Second,
		"kafka", "k1:9092 k2:9092", "t", true, 2.5, 4,
	}
	same.As(t, "settings", want, got)
}

func TestClicksSettings(t *testing.T) {
	c, err := parseClicks(invoke(map[string]string{"POSTGRES_PASSWORD": "p", "REDIS_PASSWORD": "rp", "KAFKA_GROUP": "g", "CLICKS": "kafka"}, "--port=1"))
	must.Succeed(t, err)
	got := []any{c.port, c.clicks, c.group, c.kafka.Topic, c.postgres.Password, c.redis.Password, strings.Join(c.shards, " ")}
	same.As(t, "settings", []any{1, "kafka", "g", "clicks", "p", "rp", "localhost:5432"}, got)
}

func TestSeedSettings(t *testing.T) {
	c, err := parseSeed(invoke(map[string]string{"CACHE": "redis", "REDIS_ADDR": "r:6379", "REDIS_PASSWORD": "rp"}, "--rows=7", "--seed=2", "--code-length=5", "--link-ttl=1h"))
	must.Succeed(t, err)
	want := shortener.Seeding{Rows: 7, Seed: 2, CodeLength: 5, TTL: time.Hour, Now: midnight()}
	same.As(t, "seeding", want, c.seeding)
	same.As(t, "cache", []string{"redis", "r:6379", "rp"}, []string{c.cache, c.redis.Addr, c.redis.Password})
}

// Every mistake is reported before the program listens or connects.
func TestRunRefuses(t *testing.T) {
	tests := map[string]struct {
		args string
		want string
	}{
		"no command":        {"", "no command: use serve, clicks, seed or check"},
		"unknown command":   {"server", `unknown command "server": use serve, clicks, seed or check`},
		"port":              {"serve --port=65536", "--port (PORT) is 65536: use 0 to 65535"},
		"delay":             {"clicks --shutdown-delay=-1s", "--shutdown-delay (SHUTDOWN_DELAY) is -1s: use 0s or more"},
		"base URL":          {"serve --base-url=sho.rt", `--base-url (BASE_URL) is "sho.rt": use the form http://host`},
		"API":               {"serve --api=seed-003", `invalid value "seed-003" for flag -api: "seed-003" is no API: use one of canonical, seed-001, seed-002`},
		"four shards":       {"serve --postgres-shards=a:1,b:1,c:1,d:1", `invalid value "a:1,b:1,c:1,d:1" for flag -postgres-shards: 4 shards: use 1 to 3`},
		"no shard":          {"serve --postgres-shards=,", `invalid value "," for flag -postgres-shards: 0 shards: use 1 to 3`},
		"a shard twice":     {"seed --postgres-shards=a:1,a:1", `invalid value "a:1,a:1" for flag -postgres-shards: "a:1" is there twice: two shards in one database would count each link twice`},
		"a shard's address": {"serve --postgres-shards=a", `invalid value "a" for flag -postgres-shards: "a" is no address of Postgres: use the form host:5432`},
		"connections":       {"serve --postgres-connections=many", `invalid value "many" for flag -postgres-connections: "many" is no way to hold connections: use one of unlimited, pool, pgbouncer`},
		"pool":              {"serve --postgres-pool-size=0", "shard at localhost:5432: size of the pool of Postgres connections is 0: use 1 or more"},
		"code length":       {"serve --code-length=31", "code length is 31: use 1 to 30"},
		"lifetime":          {"serve --link-ttl=0s", "lifetime of links is 0s: use more than 0s"},
		"cache":             {"serve --cache=on", `invalid value "on" for flag -cache: use one of off, redis`},
		"cache TTL":         {"serve --cache=redis --cache-ttl=0s", "cache TTL is 0s: use 1ms or more"},
		"clicks":            {"clicks --clicks=sync", `invalid value "sync" for flag -clicks: use one of redis, kafka`},
		"brokers":           {"serve --clicks=kafka --kafka-brokers=,", "no brokers of Kafka: give host:port of one or more"},
		"group":             {"clicks --clicks=kafka --kafka-group=", "consumer group is empty: give its name"},
		"rate":              {"serve --rate-limit=on --rate-limit-per-second=0", "rate limit is 0 requests per second: use a number above 0"},
		"rows":              {"seed --rows=900001", "rows to seed are 900001: use 1 to 900000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), invoke(nil, strings.Fields(tt.args)...))
			same.As(t, "error", tt.want, fmt.Sprint(err))
		})
	}
}

func TestHelpNamesEverySetting(t *testing.T) {
	for args, want := range map[string][]string{
		"--help":        {"shortener serve", "shortener clicks", "shortener seed", "shortener check"},
		"serve --help":  {"GET  /{code}", "POSTGRES_SHARDS", "RATE_LIMIT_BURST", "CACHE_NEGATIVE_TTL", "SHUTDOWN_DELAY"},
		"clicks --help": {"KAFKA_GROUP", "REDIS_ADDR", "POSTGRES_SHARDS"},
		"check --help":  {"CHECK_URL"},
		"seed --help":   {"000010", "-rows", "LINK_TTL"},
	} {
		var out strings.Builder
		w := invoke(nil, strings.Fields(args)...)
		w.out = &out
		if err := run(t.Context(), w); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: run() = %v, want flag.ErrHelp", args, err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s says nothing of %s", args, part)
			}
		}
		if strings.Contains(out.String(), "REDIS_PASSWORD,") || strings.Contains(out.String(), "-password") {
			t.Errorf("%s: a password can be a flag", args)
		}
	}
}
