package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	serving "github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/http"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/kafka"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/prometheus"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
)

const clicksUsage = `shortener clicks moves clicks from the queue that shortener serve fills to the
database, where each is counted once, also if a process is killed. Run as many
as the load needs: they share the work.

  GET /health, /ready, /version, /metrics

` + secrets

// clicksConfig is what the command line and the environment say.
type clicksConfig struct {
	listening
	shards   []string
	postgres postgres.Options
	clicks   string
	redis    redis.Options
	kafka    kafka.Config
	group    string
}

func parseClicks(w invocation) (clicksConfig, error) {
	var c clicksConfig
	set := settings.New("shortener clicks", clicksUsage, w.getenv)
	c.add(set)
	addShards(set, &c.shards, &c.postgres)
	addChoice(set, &c.clicks, "clicks", "CLICKS", "`queue` that clicks are in: redis or kafka", clicksRedis, clicksKafka)
	addRedis(set, &c.redis)
	addKafka(set, &c.kafka)
	set.String(&c.group, "kafka-group", "KAFKA_GROUP", "clicks", "`name` of the consumer group that shares the work")
	if err := set.Parse(w.args, w.out); err != nil {
		return clicksConfig{}, err
	}
	c.postgres.Password, c.postgres.Now = w.getenv("POSTGRES_PASSWORD"), w.now
	c.redis.Password = w.getenv("REDIS_PASSWORD")
	return c, c.validate()
}

// consumer moves clicks to the store until its context ends.
type consumer interface {
	Run(ctx context.Context) error
	Ping(ctx context.Context) error
	Lag(ctx context.Context) (int64, error)
}

// clicks consumes until ctx ends.
func clicks(ctx context.Context, w invocation) (err error) {
	c, err := parseClicks(w)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(w.out, nil))
	registry, metrics, err := newMetrics()
	if err != nil {
		return err
	}
	store, err := openShards(c.shards, c.postgres, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	instance := serving.InstanceID()
	consumer, closeQueue, err := openConsumer(c, instance, store, metrics.Count, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeQueue()) }()
	if err := prometheus.RegisterLag(registry, consumer.Lag); err != nil {
		return err
	}
	about := http.ConsumerAbout{Version: version, InstanceID: instance, Clicks: c.clicks, Shards: len(c.shards), Connections: string(c.postgres.Connections)}
	pages, err := http.NewPages(http.PagesConfig{
		About: about, Ready: ready(consumer, store), Metrics: prometheus.Handler(registry),
		Observe: metrics.Observe, Now: w.now, Logger: logger,
	})
	if err != nil {
		return err
	}
	return consume(ctx, consumer, func(ctx context.Context) error {
		return listen(ctx, c.listening, pages, store, logger, "about", about)
	})
}

// ready reports whether clicks can be moved: from the queue, to some shard.
func ready(c consumer, store *shards) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := c.Ping(ctx); err != nil {
			return err
		}
		return store.Ping(ctx)
	}
}

// consume runs the consumer and the pages until ctx or either of them ends.
func consume(ctx context.Context, c consumer, pages func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		group    sync.WaitGroup
		consumed error
	)
	group.Go(func() {
		defer stop()
		consumed = c.Run(ctx)
	})
	err := pages(ctx)
	stop()
	group.Wait()
	return errors.Join(err, consumed)
}

// openConsumer returns the consumer of the queue, and what closes it after Run.
func openConsumer(c clicksConfig, instance string, store shortener.ClickStore, count shortener.Count, logger *slog.Logger) (consumer, func() error, error) {
	if c.clicks == clicksKafka {
		c.kafka.Log = logger
		consumer, err := kafka.NewConsumer(store, kafka.ConsumerConfig{Config: c.kafka, Group: c.group, Count: count})
		return consumer, func() error { return nil }, err // Run closes it
	}
	client, err := redis.Open(c.redis)
	if err != nil {
		return nil, nil, err
	}
	consumer, err := redis.NewConsumer(client, store, redis.ConsumerConfig{Name: instance, Count: count, Log: logger})
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return consumer, client.Close, nil
}
