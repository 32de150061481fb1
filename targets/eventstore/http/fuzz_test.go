package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// seeds are bodies at the limits of the format.
var seeds = []string{
	"", "null", "{}", "[]", "[null]", `[{"type":"a"},null]`, `{"type":"a"}`, `{"type":"a"} x`, `[{"type":"a"}] [`, `[{"type":"a"}`,
	`{"type":"\ud800","data":"\ud800"}`, `{"type":"a","data":{"b":[1e999,-0.0]},"timestamp":"2026-11-20T12:00:00.123456789+23:59"}`,
	`{"TYPE":"a","type":null,"timestamp":null,"position":-1}`, "{\"type\":\"a\",\"data\":\"\xff\"}", `{"type":"a","timestamp":"9999-12-31T23:59:59Z"}`,
}

// holdsFor checks what must be true of any body: it is refused with a reason
// that is the sender's, or it is an append whose events are JSON when they are
// sent back, and the same when they are read from that.
func holdsFor(t *testing.T, events []eventstore.Event, err error) {
	t.Helper()
	var a eventstore.Append
	if err == nil {
		a, err = eventstore.NewAppend(events, eventstore.Terms{Key: "k"}, testTime)
	}
	if err != nil {
		var invalid eventstore.InvalidError
		if !errors.As(err, &invalid) || len(err.Error()) < len("event 1") {
			t.Fatalf("refused with %v (%T), want what is wrong with the request", err, err)
		}
		return
	}
	for i, e := range a.Events {
		e.Position = int64(i + 1)
		sent := appendEvent(nil, e)
		var got struct {
			Position int64
			wireEvent
		}
		if err := json.Unmarshal(sent, &got); err != nil {
			t.Fatalf("%v: %s", err, sent)
		}
		if got.Position != e.Position || got.Type != e.Type || !bytes.Equal(got.Data, e.Data) || !got.Timestamp.Equal(e.Timestamp) {
			t.Errorf("sent %+v, read back %+v", e, got)
		}
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := decodeEvent(bytes.NewReader(body))
		holdsFor(t, events, err)
	})
}

// A batch is what its events are one by one.
func FuzzDecodeBatch(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte("[" + s + "," + s + "]"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := decodeBatch(bytes.NewReader(body))
		holdsFor(t, events, err)
		var list []json.RawMessage
		valid := json.Unmarshal(body, &list) == nil && list != nil
		if err == nil && (!valid || len(list) != len(events)) {
			t.Errorf("accepted %d events of %q", len(events), body)
		}
	})
}

func FuzzTerms(f *testing.F) {
	f.Add("k", "0")
	f.Add("", "-1")
	f.Add(strings.Repeat("k", 256), "9223372036854775808")
	f.Fuzz(func(t *testing.T, key, expected string) {
		h := http.Header{}
		h.Set("Idempotency-Key", key)
		h.Set("Expected-Position", expected)
		terms, err := termsOf(h)
		if err != nil {
			var invalid eventstore.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if terms.Key != key {
			t.Errorf("key = %q, want %q", terms.Key, key)
		}
		if n, err := strconv.ParseInt(expected, 10, 64); terms.Expected == nil && expected != "" || terms.Expected != nil && (err != nil || *terms.Expected != n) {
			t.Errorf("expected position of %q = %v", expected, terms.Expected)
		}
	})
}
