package groundtruth

import (
	"fmt"
	"slices"
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
	// GoAway ends each connection on which a request comes once all that began on it is
	// answered: by GOAWAY over HTTP/2, by Connection: close over TLS.
	GoAway Kind = "goaway"
	// SlowReads reads the bodies of requests slowly: 4 KiB each 10 ms. So slowly do windows
	// grow, after the first 64 KiB.
	SlowReads Kind = "slow"
)

var kinds = []Kind{Stall, Resets, Refuse, GoAway, SlowReads}

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
	if !slices.Contains(kinds, e.Kind) {
		return e, fmt.Errorf("event %q: must be stall, reset, refuse, goaway or slow", text)
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

// happening says whether an event of a kind happens now.
func (s *Server) happening(kind Kind, now int64) bool {
	if len(s.script) == 0 {
		return false
	}
	first := s.counts.first.Load()
	return first != 0 && slices.ContainsFunc(s.script, func(e Event) bool {
		return e.Kind == kind && e.during(first).contains(now)
	})
}

// stalled enters that the server stood still, or one of its loops.
func (s *Server) stalled(span Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = append(s.stalls, Stalled{Span: span, Processor: processorTime()})
}
