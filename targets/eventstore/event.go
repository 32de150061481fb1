package eventstore

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxBatch is how many events one append may hold.
	MaxBatch = 1000
	// MaxType is the length of an event's type in bytes.
	MaxType = 255
	// MaxData is the size of an event's data in bytes. It bounds what a batch
	// of them costs in memory, and is far above what an event should be.
	MaxData = 1 << 20
)

// minYear and maxYear bound a timestamp to what nanoseconds since 1970 can say
// in 64 bits (1677 to 2262).
const (
	minYear = 1700
	maxYear = 2200
)

// Event is something that happened.
type Event struct {
	// Position is the event's place in the log, from 1; 0 before it is stored.
	Position int64
	// Type is the kind of event, as its writer calls it.
	Type string
	// Data is a JSON value.
	Data []byte
	// Timestamp is when it happened, as its writer says.
	Timestamp time.Time
}

// Validate reports the first thing that is wrong with an event to be appended.
// That Data is JSON is checked by the decoder.
func (e Event) Validate() error {
	switch {
	case e.Type == "":
		return invalid("type is missing: name the kind of event")
	case len(e.Type) > MaxType:
		return invalid("type has %d bytes: use at most %d", len(e.Type), MaxType)
	case !utf8.ValidString(e.Type) || strings.ContainsFunc(e.Type, unicode.IsControl):
		return invalid("type has a character that cannot be printed: use letters, digits and punctuation")
	case len(e.Data) > MaxData:
		return invalid("data has %d bytes: use at most %d", len(e.Data), MaxData)
	case !utf8.Valid(e.Data):
		return invalid("data is not UTF-8")
	}
	if year := e.Timestamp.Year(); !e.Timestamp.IsZero() && (year < minYear || year > maxYear) {
		return invalid("timestamp is in the year %d: use %d to %d", year, minYear, maxYear)
	}
	return nil
}
