package sqlite

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/sqlite/prepared"
)

// forgetAtOnce bounds how many keys one append forgets: more than the one that
// it adds, so that the table shrinks to the window, and few enough that the
// first append with a key after very many without is not slow.
const forgetAtOnce = 16

// keySize is how much of a key's hash is kept: 128 bits, by which a million
// keys do not meet.
const keySize = 16

// statements are those that requests run within a transaction.
type statements struct {
	insertEvent                       *prepared.Stmt
	findRequest, addRequest           *prepared.Stmt
	forgetRequests                    *prepared.Stmt
	findSubscription, setSubscription *prepared.Stmt
}

func (s *statements) sources() map[**prepared.Stmt]string {
	return map[**prepared.Stmt]string{
		&s.insertEvent: "INSERT INTO events(position, type, data, timestamp) VALUES(?, ?, ?, ?)",
		&s.findRequest: "SELECT first, last, fingerprint FROM requests WHERE key = ?",
		&s.addRequest:  "INSERT INTO requests(first, last, key, fingerprint) VALUES(?, ?, ?, ?)",
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
	key := sha256.Sum256([]byte(a.Key))
	if a.Key != "" {
		receipt, found, err := w.earlier(key[:keySize], a.Fingerprint[:])
		if found || err != nil {
			return receipt, err
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
		if err := w.remember(receipt, key[:keySize], a.Fingerprint[:]); err != nil {
			return eventstore.Receipt{}, err
		}
	}
	return receipt, nil
}

func (w *writer) insert(e eventstore.Event) error {
	w.insertEvent.BindInt(1, w.last+1)
	w.insertEvent.BindText(2, e.Type)
	w.insertEvent.BindBlob(3, e.Data)
	w.insertEvent.BindInt(4, e.Timestamp.UnixNano())
	if err := w.insertEvent.Run(); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	w.last++
	return nil
}

// earlier finds the append that had the same key.
func (w *writer) earlier(key, fingerprint []byte) (receipt eventstore.Receipt, found bool, err error) {
	w.findRequest.BindBlob(1, key)
	same := false
	found, err = w.findRequest.Row(func(r prepared.Row) {
		receipt = eventstore.Receipt{First: r.Int(0), Last: r.Int(1), Replayed: true}
		same = bytes.Equal(fingerprint, r.Bytes(2))
	})
	switch {
	case err != nil:
		return eventstore.Receipt{}, false, fmt.Errorf("find idempotency key: %w", err)
	case found && !same:
		return eventstore.Receipt{}, true, eventstore.ErrKeyReused
	}
	return receipt, found, nil
}

func (w *writer) remember(receipt eventstore.Receipt, key, fingerprint []byte) error {
	w.addRequest.BindInt(1, receipt.First)
	w.addRequest.BindInt(2, receipt.Last)
	w.addRequest.BindBlob(3, key)
	w.addRequest.BindBlob(4, fingerprint)
	if err := w.addRequest.Run(); err != nil {
		return fmt.Errorf("remember idempotency key: %w", err)
	}
	w.forgetRequests.BindInt(1, receipt.First-w.options.KeyWindow)
	if err := w.forgetRequests.Run(); err != nil {
		return fmt.Errorf("forget idempotency keys: %w", err)
	}
	return nil
}

func (w *writer) move(m eventstore.Move) error {
	w.findSubscription.BindText(1, m.ID)
	var current int64
	if _, err := w.findSubscription.Row(func(r prepared.Row) { current = r.Int(0) }); err != nil {
		return fmt.Errorf("find subscription: %w", err)
	}
	if m.Position < current && !m.Backwards {
		return eventstore.BackwardsError{Current: current, Asked: m.Position}
	}
	w.setSubscription.BindText(1, m.ID)
	w.setSubscription.BindInt(2, m.Position)
	if err := w.setSubscription.Run(); err != nil {
		return fmt.Errorf("set subscription: %w", err)
	}
	return nil
}
