package eventstore

import (
	"context"
	"iter"
	"strings"
	"time"
)

// Store keeps one tenant's log and the positions of its readers.
type Store interface {
	Log
	Subscriptions
	// Ping reports whether the store can be read.
	Ping(ctx context.Context) error
}

// Log is a sequence of events.
type Log interface {
	// Append stores the events, and returns when they are durable. An error
	// other than ErrOutcomeUnknown says that nothing was stored.
	Append(ctx context.Context, a Append) (Receipt, error)
	// Events are those from one position to another, both included, in order;
	// what lies outside of the log is left out. An error ends the sequence.
	Events(ctx context.Context, from, to int64) iter.Seq2[Event, error]
	// Position is that of the last event which is durable; 0 is an empty log.
	Position() int64
}

// Subscriptions are readers whose position is kept in the store.
type Subscriptions interface {
	// Subscription is the position of a reader; 0 if it is not known.
	Subscription(ctx context.Context, id string) (int64, error)
	// Move sets the position of a reader, durably.
	Move(ctx context.Context, m Move) error
}

// MaxSubscription is the length of a subscription's name.
const MaxSubscription = 200

// Move sets the position of a subscription.
type Move struct {
	ID       string
	Position int64
	// Backwards lets it go back, which is else refused: a reader that was
	// overtaken by its own restart must not undo what the other one did.
	Backwards bool
}

// Validate returns an error for an invalid request.
func (m Move) Validate() error {
	if m.Position < 0 {
		return invalid("position is %d: use 0 or more", m.Position)
	}
	return ValidateSubscription(m.ID)
}

// ValidateSubscription reports whether a reader may have that name.
func ValidateSubscription(id string) error {
	if !isName(id, MaxSubscription, "._:-") {
		return invalid("subscription has no proper name: use 1 to %d letters, digits and any of . _ : -", MaxSubscription)
	}
	return nil
}

// isName reports whether s has 1 to limit letters, digits or others.
func isName(s string, limit int, others string) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for _, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return true
}

// Commit is one transaction of a store's writer. It is observed after it ended and
// before its requests are answered.
type Commit struct {
	// Requests are those it was for: appends and moves.
	Requests int
	// Events are those that it stored; 0 if it failed.
	Events int
	Took   time.Duration
	Failed bool
}
