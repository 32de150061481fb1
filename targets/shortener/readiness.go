package shortener

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Degraded says that a part of what a process uses does not answer, and that it can do
// its work all the same, or some of it.
type Degraded struct {
	// Down are the names of what does not answer.
	Down []string
	err  error
}

func (d *Degraded) Error() string {
	return fmt.Sprintf("%s unreachable: %v", strings.Join(d.Down, ", "), d.err)
}

func (d *Degraded) Unwrap() error { return d.err }

// Aids ask, by their names, the services without which links are found all the same:
// what caches links, and what queues clicks.
type Aids map[string]func(context.Context) error

// Ping asks the store and all aids at once. It returns nil when all answer, a *Degraded
// when an aid or a part of the store does not, and any other error when the store does
// not.
func (s *Service) Ping(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(s.Aids))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() {
			if err := s.Aids[name](ctx); err != nil {
				errs[i] = fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	err := s.Store.Ping(ctx)
	group.Wait()
	var down []string
	if part, ok := errors.AsType[*Degraded](err); ok {
		down, err = append(down, part.Down...), part.err
	} else if err != nil {
		return err
	}
	for i, name := range names {
		if errs[i] != nil {
			down = append(down, name)
		}
	}
	if len(down) == 0 {
		return nil
	}
	return &Degraded{Down: down, err: errors.Join(append([]error{err}, errs...)...)}
}
