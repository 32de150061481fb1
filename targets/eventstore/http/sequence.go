package http

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

const (
	// pageEvents bounds what one request for a range is answered.
	pageEvents = 10_000
	// maxPartEvents bounds what a client may ask a part to be.
	maxPartEvents = 5000
	// sendTimeout is how long a client may take to receive a part.
	sendTimeout = 30 * time.Second
)

// span is a range of positions that exist, to be sent in parts.
type span struct {
	from, to int64
	part     int64
	// flush sends each part when it is there; else the server's buffer decides.
	flush   bool
	headers []reply.Header
}

// spanOf parses the range of a query to a log that ends at a position. As events do
// not change, the span is the same whenever its parts are read: a consistent
// snapshot that holds no transaction open.
type spanOf func(query url.Values, end int64) (span, error)

// eventRange is a page: inclusive, and at most pageEvents long. A header has the
// position of the next page.
func eventRange(query url.Values, end int64) (span, error) {
	from, err := parameter(query, "from", nil)
	if err != nil {
		return span{}, err
	}
	asked, err := parameter(query, "to", &end)
	if err != nil {
		return span{}, err
	}
	s := span{from: max(1, from), to: min(asked, end), part: eventstore.PartEvents}
	if s.to-s.from >= pageEvents {
		next := s.from + pageEvents
		s.headers = []reply.Header{
			{Name: "Next-Position", Value: strconv.FormatInt(next, 10)},
			{Name: "Link", Value: fmt.Sprintf(`</events?from=%d&to=%d>; rel="next"`, next, s.to)},
		}
		s.to = next - 1
	}
	return s, nil
}

// eventStream is all from a position to the end of the log as it is now.
func eventStream(query url.Values, end int64) (span, error) {
	from, err := parameter(query, "from", nil)
	if err != nil {
		return span{}, err
	}
	usual := int64(eventstore.PartEvents)
	part, err := parameter(query, "batch_size", &usual)
	if err != nil || part < 1 || part > maxPartEvents {
		return span{}, eventstore.InvalidError(fmt.Sprintf("Invalid 'batch_size' parameter: use 1 to %d", maxPartEvents))
	}
	return span{from: max(1, from), to: end, part: part, flush: true}, nil
}

// parameter is a number of a query, 0 or more; usual if it is not there.
func parameter(query url.Values, name string, usual *int64) (int64, error) {
	value := query.Get(name)
	if value == "" && usual != nil {
		return *usual, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, eventstore.InvalidError(fmt.Sprintf("Invalid '%s' parameter: use a position, 0 or more", name))
	}
	return n, nil
}

// sequence makes a handler that answers with events.
func (h *Handler) sequence(op eventstore.Operation, ask spanOf) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A panic, wherever it began, aborts the reply.
		seen := eventstore.Observation{Operation: op, Outcome: eventstore.Aborted}
		start := h.Now()
		defer func() {
			seen.Took = h.Now().Sub(start)
			h.Observe(seen)
		}()
		var begun bool
		c, err := h.admitReader(r)
		if err == nil {
			var s span
			if s, err = ask(r.URL.Query(), c.Store.Position()); err == nil {
				seen.Read, begun, err = send(r.Context(), w, c.Store, s)
			}
		}
		if err == nil {
			seen.Outcome = eventstore.Done
			return
		}
		if begun {
			h.Logger.Warn("reply cut off", "error", err, "sent", seen.Read)
			panic(http.ErrAbortHandler)
		}
		refused := h.failure(err)
		seen.Outcome = replied(refused).outcome()
		refused.Write(w)
	})
}

// admitReader admits a request whose reply has a time limit for each part.
func (h *Handler) admitReader(r *http.Request) (eventstore.Caller, error) {
	ctx, cancel := context.WithTimeout(r.Context(), eventstore.BulkTimeout)
	defer cancel()
	return h.admit(ctx, r)
}

// send writes the events of a span as one array. Until something was sent
// another reply can be given.
func send(ctx context.Context, w http.ResponseWriter, store eventstore.Store, s span) (sent int, begun bool, err error) {
	control := http.NewResponseController(w)
	buf := append(make([]byte, 0, 4<<10), '[')
	for next := s.from; next <= s.to; {
		var n int
		buf, n, err = readPart(ctx, buf, store, next, min(s.to, next+s.part-1))
		if err != nil {
			return sent, begun, err
		}
		sent, next = sent+n, next+int64(n)
		if next <= s.to {
			buf = append(buf, ',')
		}
		begin(w, s, &begun)
		// Not every writer of a test has deadlines.
		_ = control.SetWriteDeadline(time.Now().Add(sendTimeout))
		if _, err := w.Write(buf); err != nil {
			return sent, begun, fmt.Errorf("send events: %w", err)
		}
		if s.flush {
			if err := control.Flush(); err != nil {
				return sent, begun, fmt.Errorf("send events: %w", err)
			}
		}
		buf = buf[:0]
	}
	begin(w, s, &begun)
	if _, err := w.Write(append(buf, "]\n"...)); err != nil {
		return sent, begun, fmt.Errorf("send events: %w", err)
	}
	return sent, begun, nil
}

func begin(w http.ResponseWriter, s span, begun *bool) {
	if *begun {
		return
	}
	*begun = true
	setJSON(w)
	for _, header := range s.headers {
		w.Header().Set(header.Name, header.Value)
	}
}

// readPart adds events to buf until a part is full, and returns their number.
func readPart(ctx context.Context, buf []byte, store eventstore.Store, from, to int64) ([]byte, int, error) {
	first := true
	n, err := eventstore.ReadPart(ctx, store, from, to, func(e eventstore.Event) (full bool) {
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = appendEvent(buf, e)
		return len(buf) >= eventstore.PartBytes
	})
	return buf, n, err
}
