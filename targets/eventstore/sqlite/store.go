package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// queueLength bounds how many requests wait for the writer: what a fast disk stores
// in a fraction of a second. A request to a full queue fails at once.
const queueLength = 4096

// Store is one log in one file.
type Store struct {
	writer *writer
	done   chan struct{}
	pool   *sql.DB
	// pulse is a reader for Ping alone, which must not wait in line with all that
	// is read: a store that is busy is not one that is broken.
	pulse *sql.DB
	lock  *os.File

	// mu keeps the queue open during a send.
	mu     sync.RWMutex
	closed bool
	queue  chan *request
}

var _ eventstore.Store = (*Store)(nil)

// Open opens the log in a file, which is made if it is not there.
func Open(path string, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	w, err := newWriter(path, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the log: %w", err), lock.Close())
	}
	pool, err := openPool(path, o.Readers)
	if err != nil {
		return nil, errors.Join(err, w.close(), lock.Close())
	}
	pulse, err := openPool(path, 1)
	if err != nil {
		return nil, errors.Join(err, pool.Close(), w.close(), lock.Close())
	}
	s := &Store{writer: w, pool: pool, pulse: pulse, lock: lock, queue: make(chan *request, queueLength), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		w.run(s.queue)
	}()
	return s, nil
}

// lockFile keeps other processes from the log until the file is closed or the
// process ends, however it ends. It is a file of its own: closing another
// descriptor of the database would release SQLite's locks.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the log: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is locked: another process has this log open: %w", path, err), f.Close())
	}
	return f, nil
}

// Close commits the accepted requests, checkpoints the WAL into the database, and
// releases the file.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.done
	// Readers first: a reader would hold up the checkpoint.
	return errors.Join(s.pool.Close(), s.pulse.Close(), s.writer.close(), s.lock.Close())
}

// Append stores events.
func (s *Store) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	return submit(ctx, s, len(a.Events), func(w *writer) (eventstore.Receipt, error) { return w.append(a) })
}

// Move sets the position of a subscription.
func (s *Store) Move(ctx context.Context, m eventstore.Move) error {
	if err := m.Validate(); err != nil {
		return err
	}
	_, err := submit(ctx, s, 0, func(w *writer) (struct{}, error) { return struct{}{}, w.move(m) })
	return err
}

// Position is that of the last event which is durable.
func (s *Store) Position() int64 { return s.writer.committed.Load() }

// Waiting is how many requests wait for the writer.
func (s *Store) Waiting() int { return len(s.queue) }
