package sqlite

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	engine "zombiezen.com/go/sqlite"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// groupEvents bounds a transaction: large enough that its one fsync is shared by
// thousands, small enough that no request waits long for the others of its group.
const groupEvents = 4096

// writer owns the one connection that writes. But for committed, all of it is
// of the goroutine that runs it.
type writer struct {
	conn *engine.Conn
	// path is that of the file.
	path    string
	options Options
	// last is the position of the last event in the current transaction.
	last int64
	// committed is the position of the last event which is durable.
	committed atomic.Int64
	keys      keys
	// walTolerated is the size of the WAL's file above which it must be restarted.
	walTolerated int64

	begin, commit, rollback *stmt
	lastPosition, restart   *stmt
	statements
}

func newWriter(path string, o Options) (*writer, error) {
	conn, err := connect(path, o.writerPragmas())
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, path: path, options: o, walTolerated: walLimit}
	if err := w.prepare(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

func (w *writer) prepare() error {
	if err := migrate(w.conn); err != nil {
		return err
	}
	all := w.sources()
	all[&w.begin] = "BEGIN IMMEDIATE"
	all[&w.commit] = "COMMIT"
	all[&w.rollback] = "ROLLBACK"
	all[&w.restart] = "PRAGMA wal_checkpoint(RESTART)"
	all[&w.lastPosition] = "SELECT coalesce(max(position), 0) FROM events"
	for stmt, sql := range all {
		var err error
		if *stmt, err = w.conn.Prepare(sql); err != nil {
			return err
		}
	}
	if err := w.resume(); err != nil {
		return err
	}
	w.keys = newKeys(w.options.KeyWindow, w.last)
	w.loadRequests.BindInt64(1, w.keys.previousFrom)
	if err := each(w.loadRequests, w.keys.load); err != nil {
		return fmt.Errorf("load idempotency keys: %w", err)
	}
	return nil
}

// resume reads where the log ends.
func (w *writer) resume() error {
	if _, err := row(w.lastPosition, func(r *stmt) { w.last = r.ColumnInt64(0) }); err != nil {
		return fmt.Errorf("read the last position: %w", err)
	}
	w.committed.Store(w.last)
	return nil
}

// run commits what comes, until the queue is closed and empty.
func (w *writer) run(queue <-chan *request) {
	var group []*request
	for r := range queue {
		w.yield(queue)
		group = w.gather(group[:0], r, queue)
		w.store(group)
		clear(group)
		// What goes wrong is the disk's, as the next commit will say.
		_ = w.restartWAL()
	}
}

// yield lets runnable goroutines, such as those that the last commit answered,
// enqueue before the group is closed: as long as that brings more, and without a
// wait. A single yield ends too early where cores are few, since the scheduler
// resumes a goroutine that yielded after every 61st that it runs; groups were half
// as large, and with 256 clients an append cost a fifth more.
func (w *writer) yield(queue <-chan *request) {
	for before := -1; w.options.GroupCommit && before < len(queue); {
		before = len(queue)
		runtime.Gosched()
	}
}

// gather returns the request and those that wait behind it now. It does not
// wait for more.
func (w *writer) gather(group []*request, r *request, queue <-chan *request) []*request {
	for events := 0; ; {
		if r.take() {
			group = append(group, r)
			// A request that stores no event is work, too.
			events += max(1, r.events)
		}
		if events >= groupEvents || !w.options.GroupCommit && len(group) > 0 {
			return group
		}
		var open bool
		select {
		case r, open = <-queue:
			if !open {
				return group
			}
		default:
			return group
		}
	}
}

// store commits a group and answers it. If the transaction fails, each request
// is tried alone.
func (w *writer) store(group []*request) {
	if len(group) == 0 {
		return
	}
	err := w.transact(group)
	if err != nil && len(group) > 1 {
		for i := range group {
			w.store(group[i : i+1])
		}
		return
	}
	for _, r := range group {
		if err != nil {
			r.done <- err
			continue
		}
		r.done <- r.refused
	}
}

// transact does the work of a group in one transaction, and tells the observer
// before it is acknowledged.
func (w *writer) transact(group []*request) error {
	start, before := time.Now(), w.last
	err := w.attempt(group)
	if err != nil {
		err = fmt.Errorf("store: %w", errors.Join(err, w.abandon()))
	}
	w.options.Observe(eventstore.Commit{
		Requests: len(group), Events: int(w.last - before), Took: time.Since(start), Failed: err != nil,
	})
	return err
}

func (w *writer) attempt(group []*request) error {
	if err := run(w.begin); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for _, r := range group {
		r.refused = r.work(w)
		if broken := (storageError{}); errors.As(r.refused, &broken) {
			return r.refused
		}
	}
	if err := w.forget(); err != nil {
		return err
	}
	if err := run(w.commit); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	w.keys.commit(w.last)
	w.committed.Store(w.last)
	return nil
}

// abandon ends a transaction that failed. SQLite ends it itself after some errors.
// The writer reads the state of the log again.
func (w *writer) abandon() error {
	var err error
	w.keys.rollback()
	if !w.conn.AutocommitEnabled() {
		err = run(w.rollback)
	}
	w.last = w.committed.Load()
	return errors.Join(err, w.resume())
}

// close brings all that was stored from the WAL into the database.
func (w *writer) close() error {
	err := execute(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		err = fmt.Errorf("checkpoint: %w", err)
	}
	return errors.Join(err, w.conn.Close())
}
