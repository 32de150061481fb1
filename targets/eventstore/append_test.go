package eventstore

import (
	"errors"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestNewAppend(t *testing.T) {
	expected := int64(7)
	got, err := NewAppend([]Event{
		{Type: "bare"},
		{Type: "full", Data: []byte("1"), Timestamp: testTime.Add(-time.Hour)},
	}, Terms{Expected: &expected}, testTime)
	must.Succeed(t, err)
	want := Append{
		Events: []Event{
			{Type: "bare", Data: []byte("null"), Timestamp: testTime},
			{Type: "full", Data: []byte("1"), Timestamp: testTime.Add(-time.Hour)},
		},
		Expected: &expected,
	}
	same.As(t, "append", want, got)
}

func TestNewAppendRefuses(t *testing.T) {
	negative := int64(-1)
	many := func(n int) []Event {
		list := make([]Event, n)
		for i := range list {
			list[i].Type = "a"
		}
		return list
	}
	tests := map[string]struct {
		events []Event
		terms  Terms
		want   string
	}{
		"nothing":                       {want: "Batch is empty: send 1 to 1000 events"},
		"as many as can be":             {events: many(1000)},
		"too many":                      {events: many(1001), want: "Batch size limited to 1000 events"},
		"a bad event among good ones":   {events: []Event{{Type: "a"}, {}}, want: "event 1: type is missing: name the kind of event"},
		"a key too long":                {events: many(1), terms: Terms{Key: strings.Repeat("k", 256)}, want: "idempotency key has 256 bytes: use at most 255"},
		"an expectation before the log": {events: many(1), terms: Terms{Expected: &negative}, want: "expected position is -1: use 0 for an empty log, or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewAppend(tc.events, tc.terms, testTime)
			var invalid InvalidError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("error = %v", err)
			case tc.want != "" && (err == nil || err.Error() != tc.want || !errors.As(err, &invalid)):
				t.Errorf("error = %v, want %q, of the sender's making", err, tc.want)
			}
		})
	}
}

func fingerprintOf(t *testing.T, now time.Time, events ...Event) [32]byte {
	t.Helper()
	a, err := NewAppend(events, Terms{Key: "k"}, now)
	must.Succeed(t, err)
	return a.Fingerprint
}

// The fingerprint is of what the client sent: the clock is not in it, and every
// field is.
func TestFingerprintFollowsTheContent(t *testing.T) {
	base := Event{Type: "a", Data: []byte("1")}
	want := fingerprintOf(t, testTime, base)
	if got := fingerprintOf(t, testTime.Add(time.Hour), base); got != want {
		t.Error("a repetition an hour later differs")
	}
	for name, events := range map[string][]Event{
		"type":          {{Type: "b", Data: []byte("1")}},
		"data":          {{Type: "a", Data: []byte("2")}},
		"time":          {{Type: "a", Data: []byte("1"), Timestamp: testTime}},
		"time of 1970":  {{Type: "a", Data: []byte("1"), Timestamp: time.Unix(0, 0)}},
		"number":        {base, base},
		"where it ends": {{Type: "a1", Data: nil}},
	} {
		if fingerprintOf(t, testTime, events...) == want {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}

// Two texts that are cut in two places are two contents.
func TestFingerprintSeparatesFields(t *testing.T) {
	property := func(text string, i, j uint8) bool {
		a, b := int(i)%(len(text)+1), int(j)%(len(text)+1)
		cut := func(at int) [32]byte { return fingerprint([]Event{{Type: text[:at], Data: []byte(text[at:])}}) }
		return (cut(a) == cut(b)) == (a == b)
	}
	must.Report(t, "Check", quick.Check(property, nil))
}
