package eventstore

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrBatchTooLarge refuses an append of more than MaxBatch events.
	ErrBatchTooLarge = invalid("Batch size limited to %d events", MaxBatch)
	// ErrKeyReused refuses an append whose key was used for another content.
	ErrKeyReused = errors.New("idempotency key was used for another content: use a new key for new events")
	// ErrBusy says that more is waiting to be stored than the store will hold.
	// Nothing of this request was stored.
	ErrBusy = errors.New("too much is waiting to be stored: try again later")
	// ErrClosed says that the store takes no more. Nothing was stored.
	ErrClosed = errors.New("store is closed")
	// ErrNotOpened says that a log was not open in time. Nothing was stored.
	ErrNotOpened = errors.New("log is not open yet: try again later")
	// ErrNotStored says that a request was withdrawn while it waited. Nothing
	// of it was stored, nor will be.
	ErrNotStored = errors.New("not stored: waited too long for the writer")
	// ErrNoMemory says that requests hold as many bytes as they may. Nothing of this
	// one was stored.
	ErrNoMemory = errors.New("too many bytes are waiting to be stored: try again later")
	// ErrUnread is returned for an event that is stored but could not be read. A
	// failure would make the client give up a stored event.
	ErrUnread = errors.New("stored before, but not read: repeat with the same Idempotency-Key")
	// ErrOutcomeUnknown says that the caller left while its request was being
	// stored: it is stored whole, or not at all.
	ErrOutcomeUnknown = errors.New("stored or not stored: the wait ended during the commit; repeat with the same Idempotency-Key")
)

// InvalidError describes an invalid request, in a sentence for its sender.
type InvalidError string

func (e InvalidError) Error() string { return string(e) }

func invalid(format string, args ...any) error { return InvalidError(fmt.Sprintf(format, args...)) }

// UnauthenticatedError refuses a client without the key of a log.
type UnauthenticatedError string

func (e UnauthenticatedError) Error() string { return string(e) }

// ThrottledError refuses a client that asks too often.
type ThrottledError struct{ RetryAfter time.Duration }

func (ThrottledError) Error() string { return "Rate limit exceeded" }

// ConflictError says that the log does not end where an append expects it to.
type ConflictError struct{ Expected, Actual int64 }

func (e ConflictError) Error() string {
	return fmt.Sprintf("log ends at position %d, not at %d: read on, decide again", e.Actual, e.Expected)
}

// BackwardsError says that a subscription is ahead of where it was to move.
type BackwardsError struct{ Current, Asked int64 }

func (e BackwardsError) Error() string {
	return fmt.Sprintf("subscription is at position %d, which is after %d: ask with allowBackwards=true to go back", e.Current, e.Asked)
}
