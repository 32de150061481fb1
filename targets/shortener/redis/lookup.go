package redis

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

const (
	// maxTogether bounds an MGET, which holds up everybody else's commands.
	maxTogether = 256
	// maxFetchers is how many MGETs may be on their way at once. One would let
	// a slow reply hold up all lookups; more than a few would make them small.
	maxFetchers = 2
)

// lookups collects keys that are asked for at about the same time, and fetches
// them together. With 64 callers on one core an MGET carries about 20 keys, and
// a lookup costs a fifth of what a GET of its own does; a caller that is alone
// fetches its key at once.
type lookups struct {
	// fetch returns the value of each key, and nil for one that is not there.
	fetch func(keys []string) ([]any, error)

	mu       sync.Mutex
	waiting  []*lookup
	fetchers int
}

type lookup struct {
	key   string
	value any
	err   error
	done  chan struct{}
}

// get returns the value of a key, and whether there is one.
func (s *lookups) get(ctx context.Context, key string) (value string, found bool, err error) {
	l := &lookup{key: key, done: make(chan struct{})}
	s.add(l)
	return l.wait(ctx)
}

// wait returns the answer, unless ctx ends before it is there.
func (l *lookup) wait(ctx context.Context) (value string, found bool, err error) {
	select {
	case <-l.done:
	case <-ctx.Done():
		// Of two that are ready select takes either: what is known is told.
		select {
		case <-l.done:
		default:
			return "", false, ctx.Err()
		}
	}
	if l.err != nil || l.value == nil {
		return "", false, l.err
	}
	value, ok := l.value.(string)
	if !ok {
		return "", false, fmt.Errorf("value of %s is a %T, want a text", l.key, l.value)
	}
	return value, true, nil
}

// add starts a fetcher unless there are enough. A fetcher ends when nobody is
// waiting, and each fetch is bounded in time, so that nobody has to stop it.
func (s *lookups) add(l *lookup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, l)
	if s.fetchers < maxFetchers {
		s.fetchers++
		go s.fetchAll()
	}
}

func (s *lookups) fetchAll() {
	for {
		// Callers that are ready to run come first, and with them their keys.
		// Without this line nearly every key goes alone.
		runtime.Gosched()
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		s.answer(batch)
	}
}

// take returns who is to be served next. With nobody waiting it strikes the
// fetcher off, under the same lock, so that no caller relies on it any more.
func (s *lookups) take() []*lookup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.fetchers--
		return nil
	}
	n := min(len(s.waiting), maxTogether)
	batch := s.waiting[:n:n]
	if s.waiting = s.waiting[n:]; len(s.waiting) == 0 {
		s.waiting = nil // keeps no answered lookup alive
	}
	return batch
}

func (s *lookups) answer(batch []*lookup) {
	keys := make([]string, len(batch))
	for i, l := range batch {
		keys[i] = l.key
	}
	values, err := s.fetch(keys)
	if err == nil && len(values) != len(batch) {
		err = fmt.Errorf("redis answered %d keys with %d values", len(batch), len(values))
	}
	for i, l := range batch {
		if err != nil {
			l.err = err
		} else {
			l.value = values[i]
		}
		close(l.done)
	}
}
