package setup

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// newAudit reads .links of a target that answers so.
func newAudit(t *testing.T, handle http.HandlerFunc) Audit {
	t.Helper()
	path, err := source.ParseJSONPath(".links")
	must.Succeed(t, err)
	src, err := source.New(source.Config{Requests: []source.Request{{Name: "GET /stats", Weight: 1, Method: "GET", Path: "/stats"}}})
	must.Succeed(t, err)
	c := newPreflight(t, newLimiter(t, handle).URL).Config
	c.Source = src
	return Audit{Config: c, Values: []source.JSONPath{path}}
}

func TestAuditReadsWholeNumbers(t *testing.T) {
	for body, want := range map[string]string{
		`{"links":60}`:                   "60",
		`{"links":"60"}`:                 "60",
		`{"links":-1}`:                   "-1",
		`{"links":0}`:                    "0",
		`{"links":9007199254740992}`:     "9007199254740992",
		`{"links":9007199254740993}`:     `GET /stats: .links is a text of 16 bytes, which is not a whole number of up to 15 digits`,
		`{"links":99999999999999999999}`: `GET /stats: .links is a text of 20 bytes, which is not a whole number of up to 15 digits`,
		`{"links":1.5}`:                  `GET /stats: .links is a text of 3 bytes, which is not a whole number of up to 15 digits`,
		`{"links":null}`:                 `GET /stats: .links is a text of 4 bytes, which is not a whole number of up to 15 digits`,
		`{"clicks":1}`:                   `GET /stats: the body of 12 bytes has no .links`,
		`links 60`:                       `GET /stats: the body of 8 bytes is not JSON, wrong at byte 1; it looks like text/plain`,
	} {
		readings := make([]Reading, 1)
		newAudit(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }).readAll(t.Context(), 0, readings)
		got := fmt.Sprint(readings[0].Value)
		if readings[0].Err != nil {
			got = readings[0].Err.Error()
		}
		if got != want {
			t.Errorf("%s is read as %s, want %s", body, got, want)
		}
	}
}

func TestAuditTakesNoNumberOfAnError(t *testing.T) {
	for _, status := range []int{302, 404, 503} {
		readings := make([]Reading, 1)
		newAudit(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"links":60}`)
		}).readAll(t.Context(), 0, readings)
		if want := fmt.Sprintf("GET /stats: status %d", status); readings[0].Err == nil || readings[0].Err.Error() != want {
			t.Errorf("error %v, want %s", readings[0].Err, want)
		}
	}
}

// A number is unchanged from the end of the first attempt that read it to the beginning
// of the latest; a change or a failure begins anew.
func TestReadingIsUnchangedWhileEachAttemptReadsIt(t *testing.T) {
	start := time.Now()
	var r Reading
	var got []time.Duration
	for i, value := range []int64{7, 7, 7, 8, 8, -1, 8, 8} {
		began := start.Add(time.Duration(i) * time.Second)
		var err error
		if value < 0 {
			err = context.DeadlineExceeded
		}
		r = r.next(value, err, began, began.Add(100*time.Millisecond))
		if r.Err == nil && r.Value != value {
			t.Errorf("attempt %d read %d, want %d", i, r.Value, value)
		}
		got = append(got, r.Unchanged)
	}
	const after = 900 * time.Millisecond
	same.As(t, "unchanged for", []time.Duration{0, after, after + time.Second, 0, after, 0, 0, after}, got)
}

func TestAuditWatchesUntilItIsEnded(t *testing.T) {
	var served atomic.Int64
	a := newAudit(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"links":%d}`, served.Add(1)) })
	ctx, cancel := context.WithCancel(t.Context())
	var got []int64
	a.Watch(ctx, func(readings []Reading) {
		if got = append(got, readings[0].Value); len(got) == 2 {
			cancel()
		}
	})
	if !slices.Equal(got, []int64{1, 2}) || served.Load() != 2 {
		t.Errorf("read %v of %d requests, want 1 and 2", got, served.Load())
	}
}
