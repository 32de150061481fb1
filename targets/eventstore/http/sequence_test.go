package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// positions are those of the events in a reply.
func positions(t *testing.T, body string) []int64 {
	t.Helper()
	var events []struct{ Position int64 }
	if err := json.Unmarshal([]byte(body), &events); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	list := []int64{}
	for i, e := range events {
		if i > 0 && e.Position != events[i-1].Position+1 {
			t.Fatalf("position %d after %d", e.Position, events[i-1].Position)
		}
		list = append(list, e.Position)
	}
	return list
}

// extent is the first and the last position of a reply, and the headers.
type extent struct {
	First, Last int64
	Headers     map[string]string
}

func TestEventsAreSent(t *testing.T) {
	next := func(position, to string) map[string]string {
		return map[string]string{"Next-Position": position, "Link": "</events?from=" + position + "&to=" + to + `>; rel="next"`}
	}
	tests := map[string]struct {
		events int
		path   string
		want   extent
	}{
		"nothing yet":                {0, "/events?from=0", extent{}},
		"all":                        {3, "/events?from=0", extent{First: 1, Last: 3}},
		"a range":                    {9, "/events?from=2&to=5", extent{First: 2, Last: 5}},
		"one":                        {9, "/events?from=9&to=9", extent{First: 9, Last: 9}},
		"beyond the end":             {9, "/events?from=8&to=100", extent{First: 8, Last: 9}},
		"after the end":              {9, "/events?from=10", extent{}},
		"far after the end":          {9, "/events?from=9223372036854775807&to=9223372036854775807", extent{}},
		"the wrong way round":        {9, "/events?from=5&to=2", extent{}},
		"a full page":                {10_000, "/events?from=1", extent{First: 1, Last: 10_000}},
		"a page of more":             {10_001, "/events?from=0", extent{First: 1, Last: 10_000, Headers: next("10001", "10001")}},
		"a page of a range":          {20_100, "/events?from=50&to=20050", extent{First: 50, Last: 10_049, Headers: next("10050", "20050")}},
		"stream of nothing":          {0, "/events/stream?from=1", extent{}},
		"stream":                     {10_001, "/events/stream?from=0", extent{First: 1, Last: 10_001}},
		"stream from the middle":     {2_500, "/events/stream?from=1200&batch_size=7", extent{First: 1200, Last: 2500}},
		"stream in the largest part": {5_001, "/events/stream?from=1&batch_size=5000", extent{First: 1, Last: 5001}},
		"stream after the end":       {9, "/events/stream?from=10&batch_size=1", extent{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tc.events, nil)
			p := s.ask("GET", tc.path, "")
			if p.Status != 200 {
				t.Fatalf("page = %+v", p)
			}
			got := extent{Headers: p.Headers}
			list := positions(t, p.Body)
			if len(list) > 0 {
				got.First, got.Last = list[0], list[len(list)-1]
			}
			same.As(t, "events", tc.want, got)
			op := eventstore.ReadRange
			if strings.HasPrefix(tc.path, "/events/stream") {
				op = eventstore.ReadStream
			}
			want := []eventstore.Observation{{Operation: op, Outcome: eventstore.Done, Read: len(list)}}
			same.As(t, "observed", want, s.observed)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	const batchSize = "Invalid 'batch_size' parameter: use 1 to 5000"
	for path, want := range map[string]string{
		"/events":                               "Invalid 'from' parameter: use a position, 0 or more",
		"/events?from=a":                        "Invalid 'from' parameter: use a position, 0 or more",
		"/events?from=-1":                       "Invalid 'from' parameter: use a position, 0 or more",
		"/events?from=1&to=x":                   "Invalid 'to' parameter: use a position, 0 or more",
		"/events/stream":                        "Invalid 'from' parameter: use a position, 0 or more",
		"/events/stream?from=1&batch_size=0":    batchSize,
		"/events/stream?from=1&batch_size=501x": batchSize,
		"/events/stream?from=1&batch_size=5001": batchSize,
	} {
		s := newService(t, 3, nil)
		same.As(t, path, page{Status: 400, Body: problem(want)}, s.ask("GET", path, ""))
		same.As(t, path+": outcome", eventstore.Refused, s.observed[0].Outcome)
	}
}

// An error before anything was sent is an error as any other.
func TestReadErrorBeforeFirstEvent(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want page
	}{
		"broken": {errDisk, page{Status: 500, Body: problem("internal error: see the service's log")}},
		"slow": {
			fmt.Errorf("read events: %w", context.DeadlineExceeded),
			page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem("not read in time: try again later")},
		},
	} {
		for _, path := range []string{"/events?from=1", "/events/stream?from=1"} {
			s := newService(t, 10, nil)
			s.store.readErr = tc.err
			same.As(t, fmt.Sprintf("%s, %s", name, path), tc.want, s.ask("GET", path, ""))
			same.As(t, fmt.Sprintf("%s, %s: outcome", name, path), eventstore.Failed, s.observed[0].Outcome)
		}
	}
}

// An error in the middle must not look like the end: the client sees that the
// reply is cut off, compressed or not.
func TestReadErrorAbortsReply(t *testing.T) {
	for _, path := range []string{"/events?from=1", "/events/stream?from=1&batch_size=100"} {
		for _, encoding := range []string{"identity", "gzip"} {
			s := newService(t, 9000, func(c *Config) { c.Gzip = true })
			s.store.readErr, s.store.failAt = errDisk, 5000
			server := httptest.NewServer(s)
			r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+path, nil)
			must.Succeed(t, err)
			// Set by hand, so that the transport does not unpack.
			r.Header.Set("Accept-Encoding", encoding)
			resp, err := server.Client().Do(r)
			if err == nil {
				var body []byte
				body, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, %s: %d bytes, then %v: want that the end is missed", path, encoding, len(body), err)
				}
			}
			// Close waits for the handler, so that it has been observed.
			server.Close()
			if len(s.observed) != 1 || s.observed[0].Outcome != eventstore.Aborted || s.observed[0].Read == 0 || s.observed[0].Read >= 5000 {
				t.Errorf("%s, %s: observed %+v, want one that was aborted before event 5000", path, encoding, s.observed)
			}
		}
	}
}

// A hole in the log is an error, not an endless loop or a shorter reply.
func TestGapInPositionsIsAnError(t *testing.T) {
	for name, cut := range map[string]func([]eventstore.Event){
		"a position too high": func(events []eventstore.Event) { events[5].Position++ },
		"nothing there":       func(events []eventstore.Event) { events[0].Position = 100 },
	} {
		s := newService(t, 10, nil)
		cut(s.store.events)
		from := "?from=1"
		if name == "nothing there" {
			from = "?from=1&to=1"
		}
		if got := s.ask("GET", "/events"+from, ""); got.Status != 500 {
			t.Errorf("%s: %+v, want 500", name, got)
		}
	}
}

// writes records the bytes sent and flushed, and whether a reader was held.
type writes struct {
	*httptest.ResponseRecorder
	store   *memory
	flushed []int
	held    bool
}

func (w *writes) Write(p []byte) (int, error) {
	w.held = w.held || w.store.open > 0
	return w.ResponseRecorder.Write(p)
}

func (w *writes) Flush() { w.flushed = append(w.flushed, w.Body.Len()) }

// A stream reaches the client part by part, and no reader is held while a slow
// client receives one.
func TestStreamFlushesEachPage(t *testing.T) {
	s := newService(t, 5, nil)
	w := &writes{ResponseRecorder: httptest.NewRecorder(), store: s.store}
	s.ServeHTTP(w, httptest.NewRequest("GET", "/events/stream?from=1&batch_size=2", nil))
	want := []int{}
	sum := 1 // [
	for i, e := range s.store.events {
		sum += len(appendEvent(nil, e))
		if i < 4 {
			sum++ // ,
		}
		if i%2 == 1 || i == 4 {
			want = append(want, sum)
		}
	}
	same.As(t, "bytes at each flush", want, w.flushed)
	if w.held {
		t.Error("a reader was held while a part was sent")
	}
}

// Large events do not gather in memory.
func TestPageSizeIsLimitedInBytes(t *testing.T) {
	s := newService(t, 20, nil)
	for i := range s.store.events {
		s.store.events[i].Data = []byte(`"` + strings.Repeat("x", eventstore.PartBytes/2) + `"`)
	}
	w := &writes{ResponseRecorder: httptest.NewRecorder(), store: s.store}
	s.ServeHTTP(w, httptest.NewRequest("GET", "/events/stream?from=1", nil))
	same.As(t, "parts", 10, len(w.flushed))
	same.As(t, "events", 20, len(positions(t, w.Body.String())))
}
