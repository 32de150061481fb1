package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Only a context that a tracer would take is counted, and only sampled ones are kept of
// what is held.
func TestTracesAreCounted(t *testing.T) {
	x, url := start(t, t.TempDir())
	id := func(digit string) string { return strings.Repeat(digit, 32) }
	for _, request := range []struct {
		query string
		trace []string
	}{
		{"", nil},
		{"", []string{"00-" + id("1") + "-1111111111111111-01"}},
		{"", []string{"00-" + id("2") + "-1111111111111111-00"}},
		{"?delay=1ms", []string{"00-" + id("3") + "-1111111111111111-01"}},
		{"?delay=1ms", []string{"00-" + id("4") + "-1111111111111111-00"}},
		{"?delay=1ms", []string{"00-" + id("5") + "-1111111111111111-01"}},
		{"", []string{"00-" + id("A") + "-1111111111111111-01"}},
		{"", []string{"00-" + id("6") + "-1111111111111111-01", "00-" + id("7") + "-1111111111111111-01"}},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/a"+request.query, nil)
		must.Succeed(t, err)
		r.Header["traceparent"] = request.trace
		response, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		_ = response.Body.Close()
	}
	mustCount(t, x, "a", count{Received: 8, Traced: 5, Sampled: 3, Held: id("3") + " " + id("5") + " "})
}
