package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/http"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/kafka"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
)

const serveUsage = `shortener serve shortens URLs and leads to them.

  POST /urls         {"url": "...", "alias": "..."} -> 201 {"shortUrl", "code"}
  GET  /{code}       302 to the URL
  GET  /urls/{code}  what is known of a link, and how often it was clicked
  GET  /stats        how many links and clicks there are
  GET  /health, /ready, /version, /metrics

Each variant of it is a setting, and /version names those in force. Clicks are
counted in the database before the redirect is answered (sync), or queued in
Redis or Kafka and counted by shortener clicks.

` + secrets

// The variants of the cache and of the clicks.
const (
	cacheRedis  = "redis"
	clicksSync  = "sync"
	clicksRedis = "redis"
	clicksKafka = "kafka"
)

// serveConfig is what the command line and the environment say.
type serveConfig struct {
	listening
	baseURL        string
	replicas       int
	api            shortener.API
	trustedProxies []netip.Prefix

	shards   []string
	postgres postgres.Options

	codeLength int
	linkTTL    time.Duration

	cache            string
	cacheTTL         time.Duration
	cacheNegativeTTL time.Duration
	redis            redis.Options

	clicks string
	kafka  kafka.Config

	rateLimit          bool
	rateLimitPerSecond float64
	rateLimitBurst     int
}

// parseServe reads the flags, and the environment where there is no flag.
func parseServe(w invocation) (serveConfig, error) {
	var c serveConfig
	set := settings.New("shortener serve", serveUsage, w.getenv)
	c.add(set)
	set.String(&c.baseURL, "base-url", "BASE_URL", "", "`URL` that short URLs begin with; none: http://localhost:PORT")
	set.Int(&c.replicas, "replicas", "REPLICAS", "1", "`number` of replicas that were installed, which /version names")
	settings.Value(set, &c.api, "api", "API", string(shortener.Canonical),
		"`shape` served beside the canonical one: canonical (none), seed-001 (POST /shorten, redirects with 301) or seed-002 (/api/urls)",
		shortener.ParseAPI)
	settings.Value(set, &c.trustedProxies, "trusted-proxies", "TRUSTED_PROXIES", "", "comma-separated `networks` (CIDR) whose X-Forwarded-For names the client; none: the peer is the client",
		settings.Networks)
	addShards(set, &c.shards, &c.postgres)
	addLinks(set, &c.codeLength, &c.linkTTL)
	addCache(set, &c.cache)
	set.Duration(&c.cacheTTL, "cache-ttl", "CACHE_TTL", "24h", "`time` that the cache keeps a link")
	set.Duration(&c.cacheNegativeTTL, "cache-negative-ttl", "CACHE_NEGATIVE_TTL", "5m", "`time` that the cache keeps that a code has no link")
	addChoice(set, &c.clicks, "clicks", "CLICKS", "how `clicks` are counted: off, sync, redis or kafka", off, clicksSync, clicksRedis, clicksKafka)
	addRedis(set, &c.redis)
	addKafka(set, &c.kafka)
	set.Bool(&c.rateLimit, "rate-limit", "RATE_LIMIT", off, "`on` limits the requests of each client to this replica")
	settings.Value(set, &c.rateLimitPerSecond, "rate-limit-per-second", "RATE_LIMIT_PER_SECOND", "100", "`requests` that a client regains per second, fractions allowed", settings.Number)
	set.Int(&c.rateLimitBurst, "rate-limit-burst", "RATE_LIMIT_BURST", "200", "`requests` that a client may send at once")
	if err := set.Parse(w.args, w.out); err != nil {
		return serveConfig{}, err
	}
	c.postgres.Password, c.postgres.Now = w.getenv("POSTGRES_PASSWORD"), w.now
	c.redis.Password = w.getenv("REDIS_PASSWORD")
	return c, c.validate()
}

func (c *serveConfig) validate() error {
	errs := []error{c.listening.validate()}
	if c.baseURL == "" {
		c.baseURL = fmt.Sprintf("http://localhost:%d", c.port)
	}
	if u, err := url.Parse(c.baseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, fmt.Errorf("--base-url (BASE_URL) is %q: use the form http://host", c.baseURL))
	}
	c.baseURL = strings.TrimRight(c.baseURL, "/")
	return errors.Join(errs...)
}

// usesRedis reports whether anything of this replica is in Redis.
func (c *serveConfig) usesRedis() bool { return c.cache == cacheRedis || c.clicks == clicksRedis }

// about names every variant in force.
func (c *serveConfig) about(instance string) http.About {
	a := http.About{
		Version: version, InstanceID: instance, API: c.api, Replicas: c.replicas,
		Shards: len(c.shards), Connections: string(c.postgres.Connections), LinkIndex: c.postgres.LinkIndex,
		CodeLength: c.codeLength, LinkTTL: c.linkTTL.String(),
		Cache: c.cache, Clicks: c.clicks, RateLimit: c.rateLimit,
	}
	if c.postgres.Connections != postgres.Unlimited {
		a.PoolSize = c.postgres.PoolSize
	}
	if c.cache != off {
		a.CacheTTL, a.CacheNegativeTTL = c.cacheTTL.String(), c.cacheNegativeTTL.String()
	}
	if c.rateLimit {
		a.RateLimitPerSecond, a.RateLimitBurst = c.rateLimitPerSecond, c.rateLimitBurst
	}
	return a
}
