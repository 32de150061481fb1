package shortener

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// ClockError is how much earlier than the creation of its link a click may seem to be: so far
// the clocks of two replicas may differ.
const ClockError = 10 * time.Second

// Click is one redirect that was answered.
type Click struct {
	// ID tells this click from every other: a UUID in lower case. By it a click
	// that is delivered twice is counted once.
	ID   string
	Code string
	At   time.Time
}

// Clicks counts each redirect before it is answered.
//
// An error fails the redirect, so only synchronous implementations may return one.
// A queue delays the redirect by no more than a short bound, rescues clicks that it
// may not keep, and counts the others as ClickLost.
type Clicks interface {
	Clicked(ctx context.Context, c Click) error
}

// ClickStore counts clicks.
type ClickStore interface {
	// AddClicks stores the clicks that were not stored before, and returns how
	// many that were. A click is stored once however often, and in whatever
	// company, it is given: after an error, give all of them again. Of those
	// that were stored in spite of the error, added counts what is known. Clicks
	// on codes that no link has are dropped, and those that are earlier than their
	// code's link, by more than ClockError: they were on a link that has expired.
	AddClicks(ctx context.Context, clicks []Click) (added int, err error)
}

// NewClick returns a click with an ID of its own.
//
// The ID is a UUID of version 7: 48 bits of Unix milliseconds, and 74 random
// bits. The time in front keeps ids that are stored together close together
// in the store's index; what tells them apart are the random bits.
func NewClick(code string, at time.Time) Click {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16)
	_, _ = rand.Read(id[6:]) // never fails
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return Click{ID: formatUUID(id), Code: code, At: at}
}

func formatUUID(id [16]byte) string {
	var s [36]byte
	hex.Encode(s[0:8], id[0:4])
	hex.Encode(s[9:13], id[4:6])
	hex.Encode(s[14:18], id[6:8])
	hex.Encode(s[19:23], id[8:10])
	hex.Encode(s[24:36], id[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// Validate reports what a store would refuse, so that a consumer can set one
// unreadable click aside and go on with the others.
func (c Click) Validate() error {
	switch {
	case !isUUID(c.ID):
		return fmt.Errorf("id %q of a click is no UUID in lower case", c.ID)
	case !IsCode(c.Code):
		return fmt.Errorf("code %q of a click is none", c.Code)
	case c.At.IsZero():
		return errors.New("a click has no time")
	}
	return nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// Synchronous counts a click in the store before the redirect is answered.
type Synchronous struct {
	Store ClickStore
	Count Count
}

var _ Clicks = Synchronous{}

// Clicked stores the click.
func (s Synchronous) Clicked(ctx context.Context, c Click) error {
	n, err := s.Store.AddClicks(ctx, []Click{c})
	s.Count(ClickStored, n)
	return err
}
