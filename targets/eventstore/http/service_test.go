package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var testTime = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// memory is a store that fails on demand.
type memory struct {
	events  []eventstore.Event
	keys    map[string]eventstore.Receipt
	readers map[string]int64
	// appendErr, readErr and pingErr are what the calls fail with; reads fail
	// from the event at failAt on.
	appendErr, readErr, pingErr error
	failAt                      int64
	// ctx is that of the last call.
	ctx context.Context
	// open counts the sequences that are being read.
	open int
}

func (m *memory) Append(ctx context.Context, a eventstore.Append) (eventstore.Receipt, error) {
	m.ctx = ctx
	if m.appendErr != nil {
		return eventstore.Receipt{}, m.appendErr
	}
	if r, ok := m.keys[a.Key]; ok {
		r.Replayed = true
		return r, nil
	}
	if a.Expected != nil && *a.Expected != m.Position() {
		return eventstore.Receipt{}, eventstore.ConflictError{Expected: *a.Expected, Actual: m.Position()}
	}
	r := eventstore.Receipt{First: m.Position() + 1}
	for _, e := range a.Events {
		e.Position = m.Position() + 1
		m.events = append(m.events, e)
	}
	r.Last = m.Position()
	if a.Key != "" {
		m.keys[a.Key] = r
	}
	return r, nil
}

func (m *memory) Events(ctx context.Context, from, to int64) iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		m.ctx = ctx
		m.open++
		defer func() { m.open-- }()
		for _, e := range m.events {
			if e.Position < from || e.Position > to {
				continue
			}
			if m.readErr != nil && e.Position >= m.failAt {
				yield(eventstore.Event{}, m.readErr)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) Position() int64            { return int64(len(m.events)) }
func (m *memory) Ping(context.Context) error { return m.pingErr }

func (m *memory) Subscription(_ context.Context, id string) (int64, error) {
	return m.readers[id], cmp.Or(m.readErr, eventstore.ValidateSubscription(id))
}

func (m *memory) Move(_ context.Context, move eventstore.Move) error {
	if current := m.readers[move.ID]; move.Position < current && !move.Backwards {
		return eventstore.BackwardsError{Current: current, Asked: move.Position}
	}
	m.readers[move.ID] = move.Position
	return nil
}

// service is a handler, its store and its observations.
type service struct {
	*Handler
	store    *memory
	observed []eventstore.Observation
}

// newService returns a service whose log has n events.
func newService(t *testing.T, n int, change func(*Config)) *service {
	t.Helper()
	s := &service{store: &memory{keys: map[string]eventstore.Receipt{}, readers: map[string]int64{}}}
	for i := range n {
		s.store.events = append(s.store.events, eventstore.Event{
			Position: int64(i + 1), Type: fmt.Sprint("t", i+1), Data: []byte(fmt.Sprint(i + 1)), Timestamp: testTime,
		})
	}
	config := Config{
		Gate: eventstore.Gate{
			Stores: func(context.Context, string) (eventstore.Store, error) { return s.store, nil },
			Bodies: &eventstore.Budget{},
		},
		Open:    func() []eventstore.Store { return []eventstore.Store{s.store} },
		About:   About{Version: "v1.2.3", InstanceID: "pod-abc123", Synchronous: "full", GroupCommit: true, Readers: 4, MemoryLimit: "1Gi", Delay: "0s"},
		Observe: func(o eventstore.Observation) { s.observed = append(s.observed, o) },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }),
		Now:     func() time.Time { return testTime },
		Logger:  slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&config)
	}
	handler, err := NewHandler(config)
	must.Succeed(t, err)
	s.Handler = handler
	return s
}

// page is a reply as a client gets it, without the headers that all have.
type page struct {
	Status  int
	Headers map[string]string
	Body    string
}

// ask sends a request; headers are name, value, and so on.
func (s *service) ask(method, path, body string, headers ...string) page {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	p := page{Status: w.Code, Body: strings.TrimSuffix(w.Body.String(), "\n")}
	for name := range w.Header() {
		if name == "Content-Type" || name == "X-Content-Type-Options" || name == "Vary" {
			continue
		}
		if p.Headers == nil {
			p.Headers = map[string]string{}
		}
		p.Headers[name] = w.Header().Get(name)
	}
	return p
}

func problem(sentence string) string { return fmt.Sprintf(`{"error":%q}`, sentence) }

var errDisk = errors.New("disk of customer hunter2 is gone")
