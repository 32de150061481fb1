package shortener

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// MaxShards is the largest number of shards.
const MaxShards = 3

// Shards is a store of several stores, each with the links whose codes it owns on
// the ring. A shard that does not answer fails only operations on its own links.
type Shards struct {
	stores []Store
	names  []string
	ring   Ring
}

var _ Store = (*Shards)(nil)

// NewShards joins stores, in the order of their names on the ring: shard0,
// shard1, shard2.
func NewShards(stores ...Store) (*Shards, error) {
	if len(stores) < 1 || len(stores) > MaxShards {
		return nil, fmt.Errorf("%d shards: use 1 to %d", len(stores), MaxShards)
	}
	s := &Shards{stores: stores}
	for i := range stores {
		s.names = append(s.names, ShardName(i))
	}
	s.ring = NewRing(s.names...)
	return s, nil
}

// ShardName is the name of a shard on the ring.
func ShardName(i int) string { return fmt.Sprintf("shard%d", i) }

func (s *Shards) owner(code string) Store {
	if len(s.stores) == 1 {
		return s.stores[0]
	}
	return s.stores[s.ring.Owner(code)]
}

// Create adds the link to the shard of its code.
func (s *Shards) Create(ctx context.Context, l Link) error { return s.owner(l.Code).Create(ctx, l) }

// Find asks the shard of the code.
func (s *Shards) Find(ctx context.Context, code string) (Link, error) {
	return s.owner(code).Find(ctx, code)
}

// Details asks the shard of the code.
func (s *Shards) Details(ctx context.Context, code string) (Link, int64, error) {
	return s.owner(code).Details(ctx, code)
}

// Totals adds up all shards. A sum without one of them would be wrong, and no
// sum at all is better.
func (s *Shards) Totals(ctx context.Context) (links, clicks int64, err error) {
	var mu sync.Mutex
	err = errors.Join(s.each(func(i int) error {
		l, c, err := s.stores[i].Totals(ctx)
		mu.Lock()
		defer mu.Unlock()
		links, clicks = links+l, clicks+c
		return err
	})...)
	if err != nil {
		return 0, 0, err
	}
	return links, clicks, nil
}

// AddClicks gives each shard its clicks. Those of the other shards are stored
// when one fails; to give all of them again adds nothing twice.
func (s *Shards) AddClicks(ctx context.Context, clicks []Click) (int, error) {
	if len(s.stores) == 1 {
		return s.stores[0].AddClicks(ctx, clicks)
	}
	parts := make([][]Click, len(s.stores))
	for _, c := range clicks {
		i := s.ring.Owner(c.Code)
		parts[i] = append(parts[i], c)
	}
	var mu sync.Mutex
	added := 0
	err := errors.Join(s.each(func(i int) error {
		if len(parts[i]) == 0 {
			return nil
		}
		n, err := s.stores[i].AddClicks(ctx, parts[i])
		mu.Lock()
		defer mu.Unlock()
		added += n
		return err
	})...)
	return added, err
}

// Ping asks every shard. With some answers it returns a *Degraded, with none an
// error.
func (s *Shards) Ping(ctx context.Context) error {
	var down []string
	errs := s.each(func(i int) error { return s.stores[i].Ping(ctx) })
	for i, err := range errs {
		if err != nil {
			down = append(down, s.names[i])
		}
	}
	switch err := errors.Join(errs...); len(down) {
	case 0:
		return nil
	case len(s.stores):
		return err
	default:
		return &Degraded{Down: down, err: err}
	}
}

// each calls do for every shard at once, and returns their errors in order.
func (s *Shards) each(do func(i int) error) []error {
	errs := make([]error, len(s.stores))
	var group sync.WaitGroup
	for i := range s.stores {
		group.Go(func() {
			if err := do(i); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.names[i], err)
			}
		})
	}
	group.Wait()
	return errs
}
