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

// Degraded says that some dependencies of a process do not answer, and that it can
// still do its work, or a part of it.
type Degraded struct {
	// Down are the names of what does not answer.
	Down []string
	err  error
}

func (d *Degraded) Error() string {
	return fmt.Sprintf("%s unreachable: %v", strings.Join(d.Down, ", "), d.err)
}

func (d *Degraded) Unwrap() error { return d.err }

// Aids ping, by their names, the services that finding a link does not need: the
// cache of links and the queue of clicks.
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
