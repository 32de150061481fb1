package rpc

import (
	"context"
	"sync"
	"time"
)

// slowAfter is how long a request is read before it takes memory of a budget. What all calls have
// received in less time is bounded by the network: 125 MB at 1 Gbit/s. Small requests must not count as
// large ones where the server waits for a processor.
const slowAfter = time.Second

type reserveKey struct{}

// Reserving returns the context of a call whose requests take memory while they are read slowly. The
// library tells the size of a request when it has all of it, so that reserve takes as much as one may
// have. Its error ends the call, of which the library then tells the client CANCELLED, as of every
// request that it gives up reading.
func Reserving(ctx context.Context, reserve func() (release func(), err error)) context.Context {
	return context.WithValue(ctx, reserveKey{}, reserve)
}

// reserveIfSlow reserves memory unless done is called in time. done releases it, and returns the
// error of a reservation.
func reserveIfSlow(ctx context.Context) (done func() error) {
	reserve, ok := ctx.Value(reserveKey{}).(func() (release func(), err error))
	if !ok {
		return func() error { return nil }
	}
	end, _ := ctx.Value(endKey{}).(context.CancelFunc)
	s := &slowRead{}
	timer := time.AfterFunc(slowAfter, func() {
		if s.reserve(reserve) != nil {
			end()
		}
	})
	return func() error {
		timer.Stop()
		return s.done()
	}
}

// slowRead is the memory of a request that is being read.
type slowRead struct {
	mu      sync.Mutex
	over    bool
	release func()
	refused error
}

func (s *slowRead) reserve(reserve func() (release func(), err error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.release, s.refused = reserve()
	}
	return s.refused
}

func (s *slowRead) done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.release != nil {
		s.release()
	}
	return s.refused
}
