package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

const (
	// maxEvent is a body with one event: its data, and room for the rest.
	maxEvent = eventstore.MaxData + 64<<10
	// maxBatch is a body with a batch: 8 KB for each of 1,000 events.
	maxBatch = 8 << 20
	// maxSmall is a body with a number.
	maxSmall = 4 << 10
)

// bodyOf is the body of a request, unless it is announced as one that is too long.
func (h *Handler) bodyOf(r *http.Request, limit int64) (*eventstore.Body, error) {
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	return h.Bodies.Body(http.MaxBytesReader(nil, r.Body, limit)), nil
}

// wireEvent is an event as clients send it. A position in it is ignored.
type wireEvent struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	Timestamp time.Time       `json:"timestamp"`
}

func (e wireEvent) event() eventstore.Event {
	return eventstore.Event{Type: e.Type, Data: e.Data, Timestamp: e.Timestamp}
}

// unreadable is an error of the request, in words for clients, unless it is that the
// body is too long, or that there is no memory for it.
func unreadable(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || errors.Is(err, eventstore.ErrNoMemory) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("it ends too early")
	}
	return eventstore.InvalidError(fmt.Sprintf("Invalid request body: %v", err))
}

// decodeOne reads one JSON value into v.
func decodeOne(body io.Reader, v any) error {
	buf := bytes.NewBuffer(make([]byte, 0, bytes.MinRead*2))
	if _, err := buf.ReadFrom(body); err != nil {
		return unreadable(err)
	}
	if err := json.Unmarshal(buf.Bytes(), v); err != nil {
		return unreadable(err)
	}
	return nil
}

func decodeEvent(body io.Reader) ([]eventstore.Event, error) {
	var e *wireEvent
	if err := decodeOne(body, &e); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, unreadable(errors.New("event is null"))
	}
	return []eventstore.Event{e.event()}, nil
}

// decodeBatch reads an array of events one by one, so that one that is too long
// is refused before it has been read.
func decodeBatch(body io.Reader) ([]eventstore.Event, error) {
	d := json.NewDecoder(body)
	if token, err := d.Token(); err != nil {
		return nil, unreadable(err)
	} else if token != json.Delim('[') {
		return nil, unreadable(errors.New("send an array of events"))
	}
	var events []eventstore.Event
	for d.More() {
		if len(events) == eventstore.MaxBatch {
			return nil, eventstore.ErrBatchTooLarge
		}
		var e *wireEvent
		if err := d.Decode(&e); err != nil {
			return nil, unreadable(fmt.Errorf("event %d: %w", len(events), err))
		}
		if e == nil {
			return nil, unreadable(fmt.Errorf("event %d is null", len(events)))
		}
		events = append(events, e.event())
	}
	if _, err := d.Token(); err != nil {
		return nil, unreadable(err)
	}
	if _, err := d.Token(); err == nil {
		return nil, unreadable(errors.New("there is more after the array"))
	} else if !errors.Is(err, io.EOF) {
		return nil, unreadable(err)
	}
	return events, nil
}

// termsOf reads what a client asks of an append.
func termsOf(h http.Header) (eventstore.Terms, error) {
	terms := eventstore.Terms{Key: h.Get("Idempotency-Key")}
	if value := h.Get("Expected-Position"); value != "" {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return eventstore.Terms{}, eventstore.InvalidError(fmt.Sprintf("Expected-Position is %q: use the position of the last event you know", value))
		}
		terms.Expected = &n
	}
	return terms, nil
}
