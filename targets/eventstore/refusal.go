package eventstore

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Reason is why a request was not done. The set is closed, so that each protocol
// has a status for each.
type Reason int

const (
	// Invalid is a request whose sender must change it.
	Invalid Reason = iota + 1
	// Unauthenticated is one without the key of a log.
	Unauthenticated
	// Throttled is one above its sender's rate.
	Throttled
	// Conflict is an append to a log that has gone on.
	Conflict
	// Backwards is a move of a reader which is ahead of it.
	Backwards
	// KeyReused is an append whose key was used for other events.
	KeyReused
	// Unknown is a request that is done, or not.
	Unknown
	// Unavailable is one of which nothing is done, nor will be.
	Unavailable
	// Internal is one that met a fault of the service.
	Internal
)

// Refusal is an error as its sender is told it.
type Refusal struct {
	Reason   Reason
	Sentence string
	// Position is where the log ends, or the reader stands, in a conflict.
	Position int64
	// RetryAfter is how long the sender should wait; 0 says nothing of it.
	RetryAfter time.Duration
}

// Explain returns the refusal of a request that could not be done. It describes
// errors that a client can act on; the log has the rest.
//
// A deadline by itself is of a read: one that passes while events wait to be stored
// comes with what became of them.
func Explain(err error, logger *slog.Logger) Refusal {
	var (
		invalid   InvalidError
		key       UnauthenticatedError
		throttled ThrottledError
		conflict  ConflictError
		backwards BackwardsError
	)
	switch {
	case errors.As(err, &invalid):
		return Refusal{Reason: Invalid, Sentence: err.Error()}
	case errors.As(err, &key):
		return Refusal{Reason: Unauthenticated, Sentence: key.Error()}
	case errors.As(err, &throttled):
		return Refusal{Reason: Throttled, Sentence: throttled.Error(), RetryAfter: throttled.RetryAfter}
	case errors.As(err, &conflict):
		return Refusal{Reason: Conflict, Sentence: conflict.Error(), Position: conflict.Actual}
	case errors.As(err, &backwards):
		return Refusal{Reason: Backwards, Sentence: backwards.Error(), Position: backwards.Current}
	case errors.Is(err, ErrKeyReused):
		return Refusal{Reason: KeyReused, Sentence: ErrKeyReused.Error()}
	case errors.Is(err, ErrOutcomeUnknown):
		return Refusal{Reason: Unknown, Sentence: ErrOutcomeUnknown.Error()}
	case errors.Is(err, ErrUnread):
		logger.Warn("cannot read what is stored", "error", err)
		return Refusal{Reason: Unknown, Sentence: ErrUnread.Error()}
	}
	for _, temporary := range []error{ErrBusy, ErrClosed, ErrNotOpened, ErrNotStored, ErrNoMemory} {
		if errors.Is(err, temporary) {
			return Refusal{Reason: Unavailable, Sentence: temporary.Error(), RetryAfter: time.Second}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Refusal{Reason: Unavailable, Sentence: "not read in time: try again later", RetryAfter: time.Second}
	}
	if !errors.Is(err, context.Canceled) {
		logger.Error("request failed", "error", err)
	}
	return Refusal{Reason: Internal, Sentence: "internal error: see the service's log"}
}

// Outcome is what the request is counted as.
func (r Reason) Outcome() Outcome {
	switch r {
	case 0:
		return Done
	case Throttled:
		return Limited
	case Unknown, Unavailable, Internal:
		return Failed
	}
	return Refused
}
