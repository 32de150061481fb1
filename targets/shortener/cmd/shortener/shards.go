package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
)

const (
	// prepareEvery is how soon a shard that was not there is tried again, and one
	// that has lost its tables is noticed.
	prepareEvery = 500 * time.Millisecond
	// foldEvery is how often clicks that are old enough are folded.
	foldEvery = time.Hour
)

// shards are the databases.
type shards struct {
	*shortener.Shards
	addrs  []string
	stores []*postgres.Store
	logger *slog.Logger
	// background is what still uses them.
	background sync.WaitGroup
}

// openShards opens a store at each address. None has to be there yet.
func openShards(addrs []string, o postgres.Options, logger *slog.Logger) (*shards, error) {
	s := &shards{addrs: addrs, logger: logger}
	var stores []shortener.Store
	for i, addr := range addrs {
		o.Addr, o.Shard, o.Shards = addr, i, len(addrs)
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
// one when it is back. It fails at once when a database is another shard than it is
// configured as.
//
// A database that is not recorded as a shard yet waits until all shards have been
// asked, and for those before it: shard0 is one of every number of shards, and so
// decides between replicas that were given different numbers. No shard keeps a
// record of a number that another one refused.
func (s *shards) prepare(ctx context.Context) error {
	unrecorded := make([]bool, len(s.stores))
	group, all := errgroup.WithContext(ctx)
	for i, store := range s.stores {
		group.Go(func() error {
			err := s.prepareOne(all, i, store.Confirm)
			if unrecorded[i] = errors.Is(err, postgres.ErrUnrecorded); unrecorded[i] {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, store := range s.stores {
		if !unrecorded[i] {
			continue
		}
		if err := s.prepareOne(ctx, i, store.Prepare); err != nil {
			return err
		}
	}
	return nil
}

// prepareOne makes attempts at a shard until one succeeds or ctx ends. What the
// database says of itself is no reason for another attempt.
func (s *shards) prepareOne(ctx context.Context, i int, attempt func(context.Context) error) error {
	retry := time.NewTicker(prepareEvery)
	defer retry.Stop()
	for tries := 1; ; tries++ {
		err := attempt(ctx)
		switch {
		case err == nil:
			s.logger.Info("shard prepared", "shard", shortener.ShardName(i), "tries", tries)
			return nil
		case errors.Is(err, postgres.ErrUnrecorded):
			return err
		case errors.Is(err, postgres.ErrOtherShard):
			return fmt.Errorf("%s at %s: %w: %s", shortener.ShardName(i), s.addrs[i], err, otherShard)
		case tries == 1:
			s.logger.Warn("shard not prepared, will try again", "shard", shortener.ShardName(i), "error", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", shortener.ShardName(i), err)
		case <-retry.C:
		}
	}
}

// otherShard is the way out where a database is another shard.
const otherShard = "set --postgres-shards (POSTGRES_SHARDS; in the chart postgres.shards) to the shards with which its links were stored, in their order, or begin with empty databases"

// maintain prepares the shards, again if one loses its tables, and folds their
// clicks, until ctx ends. It calls refuse when the shards are not what is configured.
func (s *shards) maintain(ctx context.Context, refuse func(error)) {
	s.background.Go(func() {
		look, turn := time.NewTicker(prepareEvery), time.NewTicker(foldEvery)
		defer look.Stop()
		defer turn.Stop()
		for {
			if s.lost() {
				if err := s.prepare(ctx); err != nil {
					refuse(err) // or ctx has ended, and this does nothing
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			case <-turn.C:
				s.fold(ctx)
			}
		}
	})
}

// lost reports whether a shard has to be prepared.
func (s *shards) lost() bool {
	return slices.ContainsFunc(s.stores, func(store *postgres.Store) bool { return !store.Prepared() })
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
