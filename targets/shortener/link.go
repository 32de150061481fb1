package shortener

import (
	"context"
	"errors"
	"time"
)

// Link is a short code and where it leads, until it expires.
type Link struct {
	Code      string
	URL       string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Expired reports whether the link leads nowhere at that instant.
func (l Link) Expired(now time.Time) bool { return !l.ExpiresAt.After(now) }

var (
	// ErrNotFound says that no link has the code, or that it has expired.
	ErrNotFound = errors.New("no link has this code")
	// ErrTaken says that a link that has not expired has the code already.
	ErrTaken = errors.New("code is taken")
	// ErrOutcomeUnknown says that the store did not answer a write, which may have
	// been carried out. With any other error it was not.
	ErrOutcomeUnknown = errors.New("done or not done: the store was asked and did not answer")
)

// Finder finds the link of a code. A code without one, or whose link has
// expired, is ErrNotFound; any other error means that it could not be asked.
type Finder interface {
	Find(ctx context.Context, code string) (Link, error)
}

// Cache is a finder in front of another, and receives new links. A link that was
// put is found from then on, also if its code had an entry before.
type Cache interface {
	Finder
	Put(ctx context.Context, l Link) error
	// Doubt says that a link of this code may have been created, or may yet be.
	Doubt(ctx context.Context, code string) error
}

// Store keeps links and counts their clicks.
type Store interface {
	Finder
	ClickStore
	// Create adds a link. It is ErrTaken when a link that has not expired has
	// the code; one that has expired gives way, and its clicks with it.
	Create(ctx context.Context, l Link) error
	// Details returns the link of a code and how often it was clicked.
	Details(ctx context.Context, code string) (Link, int64, error)
	// Totals counts all links and all clicks, exactly, or fails.
	Totals(ctx context.Context) (links, clicks int64, err error)
	// Ping reports whether the store answers: nil, a *Degraded when a part of
	// it does, and any other error when nothing of it does.
	Ping(ctx context.Context) error
}
