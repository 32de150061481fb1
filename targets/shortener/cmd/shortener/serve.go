package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	nethttp "net/http"
	"strconv"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	serving "github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/throttle"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/http"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/kafka"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/prometheus"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
)

const (
	// writeTimeout covers up to ten tries of a creation, though not ten that
	// each take the store's longest.
	writeTimeout = 15 * time.Second
	// flushTimeout bounds the flush of queued clicks at the end. With the time for
	// requests in flight (20 s) it is within the 30 s that a cluster grants a
	// process to end by itself; the shutdown delay comes on top.
	flushTimeout = 9 * time.Second
)

// serve answers until ctx ends.
func serve(ctx context.Context, w invocation) (err error) {
	c, err := parseServe(w)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(w.out, nil))
	registry, metrics, err := newMetrics()
	if err != nil {
		return err
	}
	b, err := openBackends(c, metrics.Count, w.now, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	service, err := shortener.New(shortener.Config{
		Store: b.shards, Cache: b.cache, Clicks: b.clicks, Aids: b.aids,
		CodeLength: c.codeLength, TTL: c.linkTTL, Now: w.now, Count: metrics.Count, Logger: logger,
	})
	if err != nil {
		return err
	}
	about := c.about(serving.InstanceID())
	handler, err := newHandler(c, about, service, registry, metrics, w.now, logger)
	if err != nil {
		return err
	}
	return listen(ctx, c.listening, handler, b.shards, logger, "about", about)
}

// drainer is a handler that can be marked as draining.
type drainer interface {
	nethttp.Handler
	Drain()
}

// listen answers until ctx ends, while the shards are maintained, or until one of
// them is found to be another shard than it is configured as.
func listen(ctx context.Context, l listening, handler drainer, s *shards, logger *slog.Logger, about ...any) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(l.port))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	logger.Info("serving", append([]any{"addr", ln.Addr().String()}, about...)...)
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	s.maintain(ctx, refuse)
	err = serving.Serve(ctx, ln, serving.Options{
		Handler: handler, Drain: handler.Drain, Delay: l.shutdownDelay, WriteTimeout: writeTimeout, Logger: logger,
	})
	if cause := context.Cause(ctx); errors.Is(cause, postgres.ErrOtherShard) {
		return errors.Join(cause, err)
	}
	return err
}

func newMetrics() (*prom.Registry, *prometheus.Metrics, error) {
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics, err := prometheus.New(registry)
	return registry, metrics, err
}

func newHandler(c serveConfig, about http.About, service *shortener.Service, registry *prom.Registry, metrics *prometheus.Metrics,
	now func() time.Time, logger *slog.Logger) (*http.Handler, error) {
	config := http.Config{
		PagesConfig: http.PagesConfig{
			About: about, Ready: service.Ping, Metrics: prometheus.Handler(registry),
			Observe: metrics.Observe, Now: now, Logger: logger,
		},
		Service: service, API: c.api, BaseURL: c.baseURL, TrustedProxies: c.trustedProxies, Count: metrics.Count,
	}
	if c.rateLimit {
		limiter, err := throttle.New(throttle.Config{PerSecond: c.rateLimitPerSecond, Burst: c.rateLimitBurst, Now: now})
		if err != nil {
			return nil, err
		}
		config.Throttle = limiter
	}
	return http.NewHandler(config)
}

// backends are the services that a replica uses.
type backends struct {
	shards *shards
	cache  shortener.Cache  // nil: none
	clicks shortener.Clicks // nil: none
	aids   shortener.Aids
	// closers are closed from the last to the first.
	closers []func() error
}

// openBackends opens the configured backends, which need not be up yet.
func openBackends(c serveConfig, count shortener.Count, now func() time.Time, logger *slog.Logger) (_ *backends, err error) {
	b := &backends{aids: shortener.Aids{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.shards, err = openShards(c.shards, c.postgres, logger); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.shards.Close)
	var client *redis.Client
	if c.usesRedis() {
		if client, err = redis.Open(c.redis); err != nil {
			return nil, err
		}
		b.closers = append(b.closers, client.Close)
		b.aids["redis"] = client.Ping
	}
	if c.cache == cacheRedis {
		cache, err := redis.NewCache(client, b.shards, redis.CacheConfig{
			TTL: c.cacheTTL, NegativeTTL: c.cacheNegativeTTL, Now: now, Count: count, Log: logger,
		})
		if err != nil {
			return nil, err
		}
		b.cache = cache
		b.closers = append(b.closers, cache.Close)
	}
	return b, b.openClicks(c, client, count, logger)
}

func (b *backends) openClicks(c serveConfig, client *redis.Client, count shortener.Count, logger *slog.Logger) error {
	switch c.clicks {
	case clicksSync:
		b.clicks = shortener.Synchronous{Store: b.shards, Count: count}
	case clicksRedis:
		queue, err := redis.NewQueue(client, redis.QueueConfig{Rescue: b.shards, Count: count, Log: logger})
		if err != nil {
			return err
		}
		b.clicks = queue
		b.closers = append(b.closers, flushing(queue.Close))
	case clicksKafka:
		c.kafka.Log = logger
		producer, err := kafka.NewProducer(kafka.ProducerConfig{Config: c.kafka, Rescue: b.shards, Count: count})
		if err != nil {
			return err
		}
		b.clicks = producer
		b.aids["kafka"] = producer.Ping
		b.closers = append(b.closers, flushing(producer.Close))
	}
	return nil
}

// flushing bounds a close that first sends the queue.
func flushing(flush func(context.Context) error) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		return flush(ctx)
	}
}

// Close flushes the clicks, then closes what they and the links went through.
func (b *backends) Close() error {
	var errs []error
	for i := len(b.closers) - 1; i >= 0; i-- {
		errs = append(errs, b.closers[i]())
	}
	return errors.Join(errs...)
}
