package http

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func batchOf(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"type":"a"},`, n), ",") + "]"
}

func TestAppendsAreAnsweredAndCounted(t *testing.T) {
	tests := map[string]struct {
		path, body string
		headers    []string
		err        error
		want       page
		outcome    eventstore.Outcome
	}{
		"an event": {
			path: "/events", body: `{"position":99,"type":"o.c","data":{"a":[1.50]},"timestamp":"2026-11-20T13:00:00+02:00","more":1}`,
			want:    page{Status: 200, Body: `{"position":3,"type":"o.c","data":{"a":[1.50]},"timestamp":"2026-11-20T11:00:00Z"}`},
			outcome: eventstore.Done,
		},
		"an event without data and time": {
			path: "/events", body: `{"type":"a"}`,
			want:    page{Status: 200, Body: `{"position":3,"type":"a","data":null,"timestamp":"2026-11-20T12:00:00Z"}`},
			outcome: eventstore.Done,
		},
		"a type to be escaped": {
			path: "/events", body: `{"type":"\"ü\u2028"}`,
			want:    page{Status: 200, Body: `{"position":3,"type":"\"ü\u2028","data":null,"timestamp":"2026-11-20T12:00:00Z"}`},
			outcome: eventstore.Done,
		},
		"a batch": {
			path: "/events/batch", body: `[{"type":"a"},{"type":"b"}]`,
			want:    page{Status: 200, Body: `{"saved":2,"first_position":3,"last_position":4}`},
			outcome: eventstore.Done,
		},
		"the largest batch": {
			path: "/events/batch", body: batchOf(1000),
			want:    page{Status: 200, Body: `{"saved":1000,"first_position":3,"last_position":1002}`},
			outcome: eventstore.Done,
		},
		"a batch too large": {
			path: "/events/batch", body: batchOf(1001),
			want:    page{Status: 400, Body: problem("Batch size limited to 1000 events")},
			outcome: eventstore.Refused,
		},
		"an empty batch": {
			path: "/events/batch", body: `[]`,
			want:    page{Status: 400, Body: problem("Batch is empty: send 1 to 1000 events")},
			outcome: eventstore.Refused,
		},
		"a null in a batch": {
			path: "/events/batch", body: `[{"type":"a"},null]`,
			want:    page{Status: 400, Body: problem("Invalid request body: event 1 is null")},
			outcome: eventstore.Refused,
		},
		"a bad event in a batch": {
			path: "/events/batch", body: `[{"type":"a"},{"data":1}]`,
			want:    page{Status: 400, Body: problem("event 1: type is missing: name the kind of event")},
			outcome: eventstore.Refused,
		},
		"no JSON": {
			path: "/events", body: `{`,
			want:    page{Status: 400, Body: problem("Invalid request body: unexpected end of JSON input")},
			outcome: eventstore.Refused,
		},
		"a body too large": {
			path: "/events", body: strings.Repeat(" ", maxEvent+1),
			want:    page{Status: 413, Body: problem(fmt.Sprintf("Request body is larger than %d bytes", maxEvent))},
			outcome: eventstore.Refused,
		},
		"as expected": {
			path: "/events", body: `{"type":"a"}`, headers: []string{"Expected-Position", "2"},
			want:    page{Status: 200, Body: `{"position":3,"type":"a","data":null,"timestamp":"2026-11-20T12:00:00Z"}`},
			outcome: eventstore.Done,
		},
		"not as expected": {
			path: "/events", body: `{"type":"a"}`, headers: []string{"Expected-Position", "0"},
			want:    page{Status: 409, Body: `{"error":"log ends at position 2, not at 0: read on, decide again","position":2}`},
			outcome: eventstore.Refused,
		},
		"an expectation that is none": {
			path: "/events", body: `{"type":"a"}`, headers: []string{"Expected-Position", "last"},
			want:    page{Status: 400, Body: `{"error":"Expected-Position is \"last\": use the position of the last event you know"}`},
			outcome: eventstore.Refused,
		},
		"a key of another content": {
			path: "/events", body: `{"type":"a"}`, err: fmt.Errorf("append: %w", eventstore.ErrKeyReused),
			want:    page{Status: 422, Body: problem(eventstore.ErrKeyReused.Error())},
			outcome: eventstore.Refused,
		},
		"a full queue": {
			path: "/events", body: `{"type":"a"}`, err: eventstore.ErrBusy,
			want:    page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem(eventstore.ErrBusy.Error())},
			outcome: eventstore.Failed,
		},
		"a log that is not open yet": {
			path: "/events", body: `{"type":"a"}`, err: fmt.Errorf("%w: %w: %w", eventstore.ErrNotStored, eventstore.ErrNotOpened, context.DeadlineExceeded),
			want:    page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem(eventstore.ErrNotOpened.Error())},
			outcome: eventstore.Failed,
		},
		"a wait that was too long": {
			path: "/events", body: `{"type":"a"}`, err: fmt.Errorf("%w: %w", eventstore.ErrNotStored, context.DeadlineExceeded),
			want:    page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem(eventstore.ErrNotStored.Error())},
			outcome: eventstore.Failed,
		},
		"an outcome that is not known": {
			path: "/events", body: `{"type":"a"}`, err: fmt.Errorf("%w: %w", eventstore.ErrOutcomeUnknown, context.DeadlineExceeded),
			want:    page{Status: 504, Body: problem(eventstore.ErrOutcomeUnknown.Error())},
			outcome: eventstore.Failed,
		},
		"a broken disk is an internal error": {
			path: "/events", body: `{"type":"a"}`, err: errDisk,
			want:    page{Status: 500, Body: problem("internal error: see the service's log")},
			outcome: eventstore.Failed,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, 2, nil)
			s.store.appendErr = tc.err
			same.As(t, "page", tc.want, s.ask("POST", tc.path, tc.body, tc.headers...))
			op := eventstore.AppendEvent
			if tc.path != "/events" {
				op = eventstore.AppendBatch
			}
			same.As(t, "observed", []eventstore.Observation{{Operation: op, Outcome: tc.outcome}}, s.observed)
			if held := s.Bodies.Held(); held != 0 {
				t.Errorf("%d bytes are still held", held)
			}
		})
	}
}

// A repetition is answered as the first try was, also where the service filled
// in what the client left out.
func TestRepetitionsAreAnsweredAsTheFirstTry(t *testing.T) {
	now := testTime
	s := newService(t, 0, nil)
	s.Now = func() time.Time { return now }
	for name, path := range map[string]string{"event": "/events", "batch": "/events/batch"} {
		body := `{"type":"a"}`
		if name == "batch" {
			body = "[" + body + "]"
		}
		first := s.ask("POST", path, body, "Idempotency-Key", name)
		now = now.Add(time.Hour)
		want := first
		want.Headers = map[string]string{"Idempotency-Replayed": "true"}
		if diff := cmp.Diff(want, s.ask("POST", path, body, "Idempotency-Key", name)); diff != "" || first.Status != 200 {
			t.Errorf("%s again (-first +second):\n%s", name, diff)
		}
	}
	same.As(t, "stored events", 2, s.store.Position())
	for i, o := range s.observed {
		if want := map[bool]eventstore.Outcome{false: eventstore.Done, true: eventstore.Replayed}[i%2 == 1]; o.Outcome != want {
			t.Errorf("request %d is %s, want %s", i, o.Outcome, want)
		}
	}
}

// A stored event that cannot be read is no 503, which would say that nothing is
// stored.
func TestUnreadableReplayReturnsError(t *testing.T) {
	s := newService(t, 0, nil)
	s.ask("POST", "/events", `{"type":"a"}`, "Idempotency-Key", "k")
	for _, s.store.readErr = range []error{context.DeadlineExceeded, eventstore.ErrNotOpened, eventstore.ErrClosed, errDisk} {
		want := page{Status: 504, Body: problem(eventstore.ErrUnread.Error())}
		same.As(t, fmt.Sprintf("after %v", s.store.readErr), want, s.ask("POST", "/events", `{"type":"a"}`, "Idempotency-Key", "k"))
	}
}

// The wait for the writer is bounded, for a batch by more than for an event.
func TestAppendHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with a clock that stands
		s := newService(t, 0, nil)
		for path, tc := range map[string]struct {
			body string
			want time.Duration
		}{
			"/events":       {`{"type":"a"}`, 5 * time.Second},
			"/events/batch": {`[{"type":"a"}]`, 30 * time.Second},
		} {
			s.ask("POST", path, tc.body)
			if deadline, limited := s.store.ctx.Deadline(); !limited || time.Until(deadline) != tc.want {
				t.Errorf("%s waits for the store until %v (limited: %v), want %v", path, deadline, limited, tc.want)
			}
		}
	})
}

// The log has the details that the reply omits.
func TestInternalErrorsAreLogged(t *testing.T) {
	var log strings.Builder
	s := newService(t, 0, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	s.ask("POST", "/events", `{"type":"a"}`, "Idempotency-Key", "k")
	s.store.readErr = errDisk
	s.ask("POST", "/events", `{"type":"a"}`, "Idempotency-Key", "k")
	s.store.appendErr = errDisk
	s.ask("POST", "/events", `{"type":"b"}`)
	same.As(t, "lines that tell of the disk", 2, strings.Count(log.String(), errDisk.Error()))
}

// Bodies are refused, not gathered, when they would take too much memory.
func TestBodySizeIsLimited(t *testing.T) {
	s := newService(t, 0, nil)
	release, err := s.Bodies.Reserve(64<<20 - 11)
	must.Succeed(t, err)
	want := page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem(eventstore.ErrNoMemory.Error())}
	same.As(t, "page", want, s.ask("POST", "/events", `{"type":"a"}`))
	if got := s.ask("POST", "/events/batch", `[{"type":"a"}]`); got.Status != 503 {
		t.Errorf("a batch: %+v", got)
	}
	release()
	if got := s.ask("POST", "/events", `{"type":"a"}`); got.Status != 200 {
		t.Errorf("after the others are done: %+v", got)
	}
}

// Clients that announce large bodies, or bodies of unknown length, and send nothing
// hold nothing: others are served meanwhile.
func TestAnnouncedBodiesHoldNothing(t *testing.T) {
	for name, length := range map[string]int64{"of 8 MB": maxBatch, "of unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, 0, func(c *Config) { c.Observe = func(eventstore.Observation) {} })
			var clients sync.WaitGroup
			defer clients.Wait()
			for range 10 {
				body, send := io.Pipe()
				r := httptest.NewRequest("POST", "/events/batch", body)
				r.ContentLength = length
				clients.Go(func() {
					s.ServeHTTP(httptest.NewRecorder(), r)
					body.Close()
				})
				defer send.Close()
				if _, err := send.Write([]byte("[")); err != nil { // returns when it is read
					t.Fatalf("a client that announces a body is refused: %v", err)
				}
			}
			await.True(t, "what was sent to be held", func() bool { return s.Bodies.Held() == 10 })
			if got := s.ask("POST", "/events", `{"type":"a"}`); got.Status != 200 {
				t.Errorf("another client: %+v", got)
			}
		})
	}
}

// A request that its client cancels counts as aborted, not as failed.
func TestCanceledAppendIsCounted(t *testing.T) {
	s := newService(t, 0, nil)
	s.store.appendErr = fmt.Errorf("%w: %w", eventstore.ErrNotStored, context.Canceled)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/events", strings.NewReader(`{"type":"a"}`)).WithContext(ctx))
	want := []eventstore.Observation{{Operation: eventstore.AppendEvent, Outcome: eventstore.Aborted}}
	same.As(t, "observed", want, s.observed)
}
