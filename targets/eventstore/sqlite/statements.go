package sqlite

import (
	"bytes"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// forgetAtOnce bounds how many keys a transaction forgets: as many as it may
// add, so that the table stays bounded, and no more, so that none is slow.
const forgetAtOnce = groupEvents

// statements are those that requests run within a transaction.
type statements struct {
	insertEvent                       *stmt
	findRequest, addRequest           *stmt
	loadRequests, forgetRequests      *stmt
	findSubscription, setSubscription *stmt
}

func (s *statements) sources() map[**stmt]string {
	return map[**stmt]string{
		&s.insertEvent:  "INSERT INTO events(position, type, data, timestamp) VALUES(?, ?, ?, ?)",
		&s.findRequest:  "SELECT last, fingerprint FROM requests WHERE first = ?",
		&s.addRequest:   "INSERT INTO requests(first, last, key, fingerprint) VALUES(?, ?, ?, ?)",
		&s.loadRequests: fmt.Sprintf("SELECT first, key FROM requests WHERE first > ?1 - %d AND last >= ?1", eventstore.MaxBatch),
		&s.forgetRequests: fmt.Sprintf(
			"DELETE FROM requests WHERE first IN (SELECT first FROM requests WHERE first < ? ORDER BY first LIMIT %d)", forgetAtOnce),
		&s.findSubscription: "SELECT position FROM subscriptions WHERE id = ?",
		&s.setSubscription:  "INSERT INTO subscriptions(id, position) VALUES(?, ?) ON CONFLICT(id) DO UPDATE SET position = excluded.position",
	}
}

// append stores events at the end of the log, unless that was done before. A
// repetition is found before the expected position is looked at: the first try
// has moved the log on.
func (w *writer) append(a eventstore.Append) (eventstore.Receipt, error) {
	var x key
	if a.Key != "" {
		x = keyOf(a.Key)
		if first, found := w.keys.find(x); found {
			return w.earlier(first, a.Fingerprint[:])
		}
	}
	if a.Expected != nil && *a.Expected != w.last {
		return eventstore.Receipt{}, eventstore.ConflictError{Expected: *a.Expected, Actual: w.last}
	}
	receipt := eventstore.Receipt{First: w.last + 1, Last: w.last + int64(len(a.Events))}
	for _, e := range a.Events {
		if err := w.insert(e); err != nil {
			return eventstore.Receipt{}, err
		}
	}
	if a.Key != "" {
		if err := w.storeKey(receipt, x, a.Fingerprint[:]); err != nil {
			return eventstore.Receipt{}, err
		}
	}
	return receipt, nil
}

func (w *writer) insert(e eventstore.Event) error {
	w.insertEvent.BindInt64(1, w.last+1)
	w.insertEvent.BindText(2, e.Type)
	w.insertEvent.BindBytes(3, e.Data)
	w.insertEvent.BindInt64(4, e.Timestamp.UnixNano())
	if err := run(w.insertEvent); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	w.last++
	return nil
}

// earlier is the receipt of the append that had the same key.
func (w *writer) earlier(first int64, fingerprint []byte) (eventstore.Receipt, error) {
	w.findRequest.BindInt64(1, first)
	receipt, same := eventstore.Receipt{First: first, Replayed: true}, false
	found, err := row(w.findRequest, func(r *stmt) {
		receipt.Last = r.ColumnInt64(0)
		same = bytes.Equal(fingerprint, blob(r, 1))
	})
	switch {
	case err != nil:
		return eventstore.Receipt{}, fmt.Errorf("find idempotency key: %w", err)
	case !found:
		return eventstore.Receipt{}, fmt.Errorf("find idempotency key: the append at position %d has no row", first)
	case !same:
		return eventstore.Receipt{}, eventstore.ErrKeyReused
	}
	return receipt, nil
}

func (w *writer) storeKey(receipt eventstore.Receipt, x key, fingerprint []byte) error {
	w.addRequest.BindInt64(1, receipt.First)
	w.addRequest.BindInt64(2, receipt.Last)
	w.addRequest.BindBytes(3, x[:])
	w.addRequest.BindBytes(4, fingerprint)
	if err := run(w.addRequest); err != nil {
		return fmt.Errorf("store idempotency key: %w", err)
	}
	w.keys.add(x, receipt.First)
	return nil
}

// forget deletes keys that are no longer remembered, within a transaction that
// has added some.
func (w *writer) forget() error {
	if len(w.keys.added) == 0 {
		return nil
	}
	w.forgetRequests.BindInt64(1, w.keys.previousFrom)
	if err := run(w.forgetRequests); err != nil {
		return fmt.Errorf("forget idempotency keys: %w", err)
	}
	return nil
}

func (w *writer) move(m eventstore.Move) error {
	w.findSubscription.BindText(1, m.ID)
	var current int64
	if _, err := row(w.findSubscription, func(r *stmt) { current = r.ColumnInt64(0) }); err != nil {
		return fmt.Errorf("find subscription: %w", err)
	}
	if m.Position < current && !m.Backwards {
		return eventstore.BackwardsError{Current: current, Asked: m.Position}
	}
	w.setSubscription.BindText(1, m.ID)
	w.setSubscription.BindInt64(2, m.Position)
	if err := run(w.setSubscription); err != nil {
		return fmt.Errorf("set subscription: %w", err)
	}
	return nil
}
