package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	_ "modernc.org/sqlite" // the driver of database/sql

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// openPool connects readers to a file that the writer has made. They stay
// open: to open one costs more than to read with it.
func openPool(path string, readers int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return nil, fmt.Errorf("open the readers: %w", err)
	}
	pool.SetMaxOpenConns(readers)
	pool.SetMaxIdleConns(readers)
	if err := pool.Ping(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the readers: %w", err), pool.Close())
	}
	return pool, nil
}

// Events are those of a range of positions. The sequence holds a reader while it
// lasts, so that a reply to a slow client reads it in parts.
func (s *Store) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		rows, err := s.pool.QueryContext(ctx,
			"SELECT position, type, data, timestamp FROM events WHERE position BETWEEN ? AND ? ORDER BY position", from, to)
		if err != nil {
			yield(eventstore.Event{}, fmt.Errorf("read events: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			e, err := scanEvent(rows)
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(eventstore.Event{}, fmt.Errorf("read events: %w", err))
		}
	}
}

func scanEvent(rows *sql.Rows) (eventstore.Event, error) {
	var e eventstore.Event
	var nanos int64
	if err := rows.Scan(&e.Position, &e.Type, &e.Data, &nanos); err != nil {
		return eventstore.Event{}, fmt.Errorf("read event: %w", err)
	}
	e.Timestamp = time.Unix(0, nanos).UTC()
	return e, nil
}

// Subscription is the position of a reader; 0 if it is not known.
func (s *Store) Subscription(ctx context.Context, id string) (int64, error) {
	if err := eventstore.ValidateSubscription(id); err != nil {
		return 0, err
	}
	var position int64
	err := s.pool.QueryRowContext(ctx, "SELECT position FROM subscriptions WHERE id = ?", id).Scan(&position)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read subscription: %w", err)
	}
	return position, nil
}

// Ping reads the newest event's position from the file, over a connection of its
// own.
func (s *Store) Ping(ctx context.Context) error {
	var position int64
	if err := s.pulse.QueryRowContext(ctx, "SELECT coalesce(max(position), 0) FROM events").Scan(&position); err != nil {
		return fmt.Errorf("read the last position: %w", err)
	}
	return nil
}
