package eventstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// MaxKey is the length of an idempotency key in bytes.
const MaxKey = 255

// Append asks for events to be stored together.
type Append struct {
	Events []Event
	// Key marks a repetition of the same append; "" is none.
	Key string
	// Fingerprint distinguishes appends of different content with the same key. It
	// covers the events as the client sent them, without added fields.
	Fingerprint [sha256.Size]byte
	// Expected is the position at which the log must end; nil is anywhere.
	Expected *int64
}

// Terms are what a client may ask of an append beside its events.
type Terms struct {
	Key      string
	Expected *int64
}

// NewAppend returns an append that is valid. An event without a timestamp gets
// now, and one without data gets null; the slice becomes the append's own.
func NewAppend(events []Event, terms Terms, now time.Time) (Append, error) {
	if err := terms.validate(); err != nil {
		return Append{}, err
	}
	if len(events) == 0 {
		return Append{}, invalid("Batch is empty: send 1 to %d events", MaxBatch)
	}
	if len(events) > MaxBatch {
		return Append{}, ErrBatchTooLarge
	}
	for i, e := range events {
		if err := e.Validate(); err != nil {
			return Append{}, fmt.Errorf("event %d: %w", i, err)
		}
	}
	a := Append{Events: events, Key: terms.Key, Expected: terms.Expected}
	if a.Key != "" {
		a.Fingerprint = fingerprint(events)
	}
	for i := range events {
		if events[i].Timestamp.IsZero() {
			events[i].Timestamp = now
		}
		if len(events[i].Data) == 0 {
			events[i].Data = []byte("null")
		}
	}
	return a, nil
}

func (t Terms) validate() error {
	if len(t.Key) > MaxKey {
		return invalid("idempotency key has %d bytes: use at most %d", len(t.Key), MaxKey)
	}
	if t.Expected != nil && *t.Expected < 0 {
		return invalid("expected position is %d: use 0 for an empty log, or more", *t.Expected)
	}
	return nil
}

// noTimestamp is of no year that an event may have.
const noTimestamp = 1 << 63

// fingerprint hashes each field with its length before it, so that no two
// different appends are the same sequence of bytes.
func fingerprint(events []Event) (sum [sha256.Size]byte) {
	h := sha256.New()
	var head [24]byte
	for _, e := range events {
		binary.LittleEndian.PutUint64(head[0:], uint64(len(e.Type)))
		binary.LittleEndian.PutUint64(head[8:], uint64(len(e.Data)))
		binary.LittleEndian.PutUint64(head[16:], noTimestamp)
		if !e.Timestamp.IsZero() {
			binary.LittleEndian.PutUint64(head[16:], uint64(e.Timestamp.UnixNano()))
		}
		h.Write(head[:])
		h.Write([]byte(e.Type))
		h.Write(e.Data)
	}
	h.Sum(sum[:0])
	return sum
}

// Receipt says where an append is stored.
type Receipt struct {
	First, Last int64
	// Replayed says that it was stored by an earlier append with the same key.
	Replayed bool
}
