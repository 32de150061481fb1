package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
)

const (
	// prepareEvery is how soon a shard that was not there is tried again.
	prepareEvery = 500 * time.Millisecond
	// foldEvery is how often clicks that are old enough are folded.
	foldEvery = time.Hour
)

// shards are the databases.
type shards struct {
	*shortener.Shards
	stores []*postgres.Store
	logger *slog.Logger
	// background is what still uses them.
	background sync.WaitGroup
}

// openShards opens a store at each address. None has to be there yet.
func openShards(addrs []string, o postgres.Options, logger *slog.Logger) (*shards, error) {
	s := &shards{logger: logger}
	var stores []shortener.Store
	for _, addr := range addrs {
		o.Addr = addr
		store, err := postgres.Open(o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("shard at %s: %w", addr, err), s.Close())
		}
		s.stores = append(s.stores, store)
		stores = append(stores, store)
	}
	joined, err := shortener.NewShards(stores...)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Shards = joined
	return s, nil
}

// prepare makes each shard's schema, and tries until it has succeeded or ctx
// ends: a replica that starts while a shard is down serves the others, and this
// one when it is back.
func (s *shards) prepare(ctx context.Context) error {
	errs := make([]error, len(s.stores))
	var group sync.WaitGroup
	for i, store := range s.stores {
		group.Go(func() { errs[i] = s.prepareOne(ctx, shortener.ShardName(i), store) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (s *shards) prepareOne(ctx context.Context, name string, store *postgres.Store) error {
	retry := time.NewTicker(prepareEvery)
	defer retry.Stop()
	for tries := 1; ; tries++ {
		err := store.Prepare(ctx)
		if err == nil {
			s.logger.Info("shard prepared", "shard", name, "tries", tries)
			return nil
		}
		if tries == 1 {
			s.logger.Warn("shard not prepared, will try again", "shard", name, "error", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", name, err)
		case <-retry.C:
		}
	}
}

// maintain prepares the shards and then folds their clicks, until ctx ends.
func (s *shards) maintain(ctx context.Context) {
	s.background.Go(func() {
		if s.prepare(ctx) != nil {
			return // only because ctx has ended
		}
		turn := time.NewTicker(foldEvery)
		defer turn.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-turn.C:
				s.fold(ctx)
			}
		}
	})
}

func (s *shards) fold(ctx context.Context) {
	for i, store := range s.stores {
		n, err := store.Fold(ctx, postgres.Retention)
		if err != nil {
			s.logger.Warn("cannot fold clicks", "shard", shortener.ShardName(i), "error", err)
		} else if n > 0 {
			s.logger.Info("folded clicks", "shard", shortener.ShardName(i), "clicks", n)
		}
	}
}

// Close waits for the background jobs, whose context must have ended, and closes
// the connections.
func (s *shards) Close() error {
	s.background.Wait()
	var errs []error
	for _, store := range s.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}
