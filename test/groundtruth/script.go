package groundtruth

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the effect of an event.
type Kind string

const (
	// Stall stops the whole server: what comes is read and answered at its end.
	Stall Kind = "stall"
	// Resets resets each connection on which a request comes.
	Resets Kind = "reset"
	// Refuse closes all connections and the port.
	Refuse Kind = "refuse"
)

// Event happens once, From after the first request, and lasts For.
type Event struct {
	Kind Kind
	From time.Duration
	For  time.Duration
}

// ParseEvent reads kind:from:for, as stall:10s:2s.
func ParseEvent(text string) (Event, error) {
	name, rest, _ := strings.Cut(text, ":")
	r := reader{fields: strings.Split(rest, ":")}
	e := Event{Kind: Kind(name), From: r.duration(), For: r.duration()}
	if e.Kind != Stall && e.Kind != Resets && e.Kind != Refuse {
		return e, fmt.Errorf("event %q: must be stall, reset or refuse", text)
	}
	if err := r.end(); err != nil {
		return e, fmt.Errorf("event %q: %w", text, err)
	}
	return e, nil
}

// Span is a time on the kernel's monotonic clock.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// during is the span of an event, when the first request came at first.
func (e Event) during(first int64) Span {
	return Span{From: first + int64(e.From), To: first + int64(e.From+e.For)}
}

func (s Span) contains(t int64) bool { return s.From <= t && t < s.To }
