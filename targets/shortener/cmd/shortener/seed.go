package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
)

const seedUsage = `shortener seed fills the database with links that a load test can name.

The code of link i, from 0 on, is i in base62 (digits 0-9, A-Z, a-z), padded
with 0 in front, and its URL is https://example.com/seed/<i>: of 6 characters,
000000, 000001, ... 00000z, 000010, ... Seed s counts from (s-1)*900000 on.
Codes that are taken stay as they are, so that a second run adds nothing. Links
of which one would have a page of the service for its code are refused. With a
cache, codes of which it remembers that they have no link are forgotten at the end.

` + secrets

// startTimeout is how long seeding waits for databases that are not there.
const startTimeout = time.Minute

type seedConfig struct {
	shards   []string
	postgres postgres.Options
	seeding  shortener.Seeding
	cache    string
	redis    redis.Options
}

func parseSeed(w invocation) (seedConfig, error) {
	var c seedConfig
	set := settings.New("shortener seed", seedUsage, w.getenv)
	addShards(set, &c.shards, &c.postgres)
	addLinks(set, &c.seeding.CodeLength, &c.seeding.TTL)
	addCache(set, &c.cache)
	addRedis(set, &c.redis)
	set.Int(&c.seeding.Rows, "rows", "ROWS", "5000", "`number` of links, 1 to 900000")
	set.Int(&c.seeding.Seed, "seed", "SEED", "1", "`number` that names another set of links")
	if err := set.Parse(w.args, w.out); err != nil {
		return seedConfig{}, err
	}
	c.postgres.Password, c.postgres.Now = w.getenv("POSTGRES_PASSWORD"), w.now
	c.redis.Password = w.getenv("REDIS_PASSWORD")
	c.seeding.Now = w.now().UTC().Truncate(time.Microsecond)
	return c, c.seeding.Validate()
}

// seed fills the shards.
func seed(ctx context.Context, w invocation) (err error) {
	c, err := parseSeed(w)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(w.out, nil))
	s, err := openShards(c.shards, c.postgres, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	bounded, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	switch err := s.prepare(bounded); {
	case errors.Is(err, postgres.ErrOtherShard):
		return err
	case err != nil:
		return fmt.Errorf("databases not there within %v: %w", startTimeout, err)
	}
	var loaders []shortener.Loader
	for _, store := range s.stores {
		loaders = append(loaders, store)
	}
	start := w.now()
	err = c.seeding.Load(ctx, loaders, func(done, added int) {
		fmt.Fprintf(w.out, "seeded %d of %d links, %d of them new, in %.1fs\n",
			done, c.seeding.Rows, added, w.now().Sub(start).Seconds())
	})
	if err != nil {
		return err
	}
	for i, store := range s.stores {
		if err := store.Analyze(ctx); err != nil {
			return fmt.Errorf("%s: %w", shortener.ShardName(i), err)
		}
	}
	if c.cache == off {
		return nil
	}
	return forgetNegative(ctx, c.redis, logger)
}

// forgetNegative makes links be found whose codes were looked up before.
func forgetNegative(ctx context.Context, o redis.Options, logger *slog.Logger) (err error) {
	client, err := redis.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := retry.Until(logger, "forget what hides new links")(ctx, client.ForgetNegative); err != nil {
		return fmt.Errorf("cache not there within %v, which may hide the links that were seeded: %w", startTimeout, err)
	}
	return nil
}
