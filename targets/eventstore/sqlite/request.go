package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// The states of a request. Either the writer takes it, or its sender withdraws it
// first.
const (
	waiting int32 = iota
	taken
	withdrawn
)

// request is work for the writer.
type request struct {
	ctx   context.Context
	state atomic.Int32
	// events is how many it stores.
	events int
	// work is done within a transaction, again if that had to be rolled back.
	// Its error is a refusal, unless it is SQLite's. Nil once it is withdrawn.
	work func(*writer) error
	// refused is the outcome of work when the transaction is committed.
	refused error
	// done receives the outcome, once.
	done chan error
}

// take claims the request for the writer. One whose sender no longer waits is
// not stored.
func (r *request) take() bool {
	if err := r.ctx.Err(); err != nil {
		if r.withdraw() {
			r.done <- notStored(err)
		}
		return false
	}
	return r.state.CompareAndSwap(waiting, taken)
}

// withdraw takes the request back, unless the writer has it.
func (r *request) withdraw() bool { return r.state.CompareAndSwap(waiting, withdrawn) }

func notStored(cause error) error { return fmt.Errorf("%w: %w", eventstore.ErrNotStored, cause) }

// submit hands work to the writer and waits until it is committed. When ctx
// ends before that, the error says whether it may still be.
func submit[T any](ctx context.Context, s *Store, events int, work func(*writer) (T, error)) (T, error) {
	var result, none T
	if err := ctx.Err(); err != nil {
		return none, notStored(err)
	}
	r := &request{ctx: ctx, events: events, done: make(chan error, 1)}
	r.work = func(w *writer) (err error) {
		result, err = work(w)
		return err
	}
	if err := s.enqueue(r); err != nil {
		return none, err
	}
	if err := r.outcome(ctx); err != nil {
		return none, err
	}
	return result, nil
}

// outcome waits for what becomes of a request that stands in the queue.
func (r *request) outcome(ctx context.Context) error {
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
	}
	// The writer may have withdrawn it already.
	if r.withdraw() || r.state.Load() == withdrawn {
		// Until the writer comes to it, what stays in the queue holds no events:
		// clients that give up on a slow disk come again, with more of them.
		r.work = nil
		return notStored(ctx.Err())
	}
	// Of two ready cases select takes either: a known result is returned.
	select {
	case err := <-r.done:
		return err
	default:
		return fmt.Errorf("%w: %w", eventstore.ErrOutcomeUnknown, ctx.Err())
	}
}

func (s *Store) enqueue(r *request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return eventstore.ErrClosed
	}
	select {
	case s.queue <- r:
		return nil
	default:
		return eventstore.ErrBusy
	}
}
