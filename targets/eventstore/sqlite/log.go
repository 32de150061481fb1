package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// log is one of the databases' logs, whether it is open or not: whatever is
// asked of it opens it, and keeps it open until that is done. A range of events
// may be read in parts between which the log was closed, as events never change.
type log struct {
	of   *Databases
	name string

	// All of the following is kept by the databases' lock.
	state state
	// turn is that which the log waits for or is in.
	turn *turn
	// store is there from opened to the end of closing.
	store *Store
	// users counts the callers that use the store or wait for it to be opened. When
	// the last releases a log that closes, idle is closed.
	users int
	idle  chan struct{}
	// used is the number of the last use, of all uses.
	used int64
	// last is the position at which a log that is shut ends.
	last int64
	// failed is what went wrong when the log was last closed.
	failed error
}

var _ eventstore.Store = (*log)(nil)

// turn is a change of state that others wait for. Its fields are set before done
// is closed.
type turn struct {
	done  chan struct{}
	store *Store
	err   error
}

func newTurn() *turn { return &turn{done: make(chan struct{})} }

// wait returns how the turn ended, unless ctx ends before that.
func (t *turn) wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
	}
	// Of two that are ready select takes either.
	select {
	case <-t.done:
		return t.err
	default:
		return fmt.Errorf("%w: %w", eventstore.ErrNotOpened, ctx.Err())
	}
}

// finish ends the turn of a log, with the lock.
func (l *log) finish(next state, err error) {
	l.state, l.turn.err = next, err
	close(l.turn.done)
}

// use returns the store, which stays open until release is called.
func (l *log) use(ctx context.Context) (*Store, error) {
	for {
		at, t, err := l.enter()
		if err != nil {
			return nil, err
		}
		err = t.wait(ctx)
		switch {
		case at == closing && err == nil:
			continue
		case at == closing:
			return nil, err
		case err != nil:
			l.release()
			return nil, err
		}
		return t.store, nil
	}
}

// enter makes a user of the caller, unless the log closes: then it has to come
// again after that turn. A log that is open has had its turn.
func (l *log) enter() (state, *turn, error) {
	d := l.of
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return shut, nil, eventstore.ErrClosed
	}
	if l.state == shut {
		d.enqueue(l)
	}
	if l.state != closing {
		d.uses++
		l.users, l.used = l.users+1, d.uses
	}
	return l.state, l.turn, nil
}

func (l *log) release() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.users--; l.users == 0 && l.state == closing {
		close(l.idle)
	}
}

// using asks the store while it is open.
func using[T any](ctx context.Context, l *log, ask func(*Store) (T, error)) (T, error) {
	s, err := l.use(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer l.release()
	return ask(s)
}

// changing is using for what stores something: of it nothing is stored in a log
// that was not opened.
func changing[T any](ctx context.Context, l *log, change func(*Store) (T, error)) (T, error) {
	result, err := using(ctx, l, change)
	if errors.Is(err, eventstore.ErrNotOpened) {
		err = fmt.Errorf("%w: %w", eventstore.ErrNotStored, err)
	}
	return result, err
}

// Append stores events.
func (l *log) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	return changing(ctx, l, func(s *Store) (eventstore.Receipt, error) { return s.Append(ctx, a) })
}

// Events are those of a range of positions.
func (l *log) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		s, err := l.use(ctx)
		if err != nil {
			yield(eventstore.Event{}, err)
			return
		}
		defer l.release()
		s.Events(ctx, from, to)(yield)
	}
}

// Position is that of the last event which is durable. It is known of a log that
// was closed, too.
func (l *log) Position() int64 {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.store == nil {
		return l.last
	}
	return l.store.Position()
}

// Subscription is the position of a reader; 0 if it is not known.
func (l *log) Subscription(ctx context.Context, id string) (int64, error) {
	return using(ctx, l, func(s *Store) (int64, error) { return s.Subscription(ctx, id) })
}

// Move sets the position of a subscription.
func (l *log) Move(ctx context.Context, m eventstore.Move) error {
	_, err := changing(ctx, l, func(s *Store) (struct{}, error) { return struct{}{}, s.Move(ctx, m) })
	return err
}

// Ping asks a log that is open. It opens none, and is not to count as its use: a
// probe asks all.
func (l *log) Ping(ctx context.Context) error {
	s := l.opened()
	if s == nil {
		return nil
	}
	defer l.release()
	return s.Ping(ctx)
}

// opened makes a user of the caller if the log is open.
func (l *log) opened() *Store {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.state != opened {
		return nil
	}
	l.users++
	return l.store
}
