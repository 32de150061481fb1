package local_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

const traced = "{target: {url: TARGET, trace: {sampled: 100%}}, requests: [{name: get, http: {path: '/${seq}'}}], parallelism: 2, steps: [{name: burst, users: 10, requestsPerUser: 5}]}"

// The target answers user 7 last, whose first request was due with those of all others: the
// slowest trace in the results is that of this request, of whichever worker it is.
func TestTheSlowestTraceInTheResultsIsThatOfTheRequestThatWasHeld(t *testing.T) {
	const held, others = "/7", 10*5 - 5 // user 7 sends nothing meanwhile
	var mu sync.Mutex
	paths := map[string]string{} // by the id of the trace
	var rest sync.WaitGroup
	rest.Add(others)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id := strings.Split(r.Header.Get("traceparent"), "-")
		mu.Lock()
		if len(id) == 4 && id[3] == "01" {
			paths[id[1]] = r.URL.Path
		}
		mu.Unlock()
		switch {
		case r.URL.Path == held:
			rest.Wait()
			<-time.After(300 * time.Millisecond) // the worker has read the other responses
		case !strings.HasSuffix(r.URL.Path, "7"):
			rest.Done()
		}
	}))
	t.Cleanup(target.Close)
	lt := carryOut(t, loadTest(t, target.URL, traced), config(t))
	isCarriedOut(t, lt)
	if fault.BeganLate(&lt.Status) {
		return // its traces are not stored
	}
	got := lt.Status.Steps[0].Result.Traces
	if got == nil || got.Sampled != 50 || len(paths) != 50 || len(got.Slowest) != 5 || len(got.Failed) != 0 {
		t.Fatalf("traces %+v; the target was asked for %d", got, len(paths))
	}
	first := got.Slowest[0]
	if paths[first.TraceID] != held || first.Request != "get" || first.StatusCode != 200 || first.ResponseTime.Duration < 300*time.Millisecond {
		t.Errorf("the slowest is %+v, of path %q; want %s", first, paths[first.TraceID], held)
	}
	for _, r := range got.Slowest {
		if paths[r.TraceID] == "" {
			t.Errorf("trace %s is none that the target was asked for", r.TraceID)
		}
	}
}
