package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A request is handled after the delay, unless its client has left before. What the
// cluster asks has no long way: probes that wait longer than the chart lets them would end the pod.
func TestRequestsWaitForTheDelay(t *testing.T) {
	for name, test := range map[string]struct {
		path                  string
		delay, patience, took time.Duration
		handled               bool
	}{
		"none":               {"/position", 0, time.Second, 0, true},
		"of a long way":      {"/position", 250 * time.Millisecond, time.Second, 250 * time.Millisecond, true},
		"longer than waited": {"/position", 250 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, false},
		"of readiness":       {"/ready", mostDelay, 2 * time.Second, 0, true},
		"of liveness":        {"/health", mostDelay, 5 * time.Second, 0, true},
		"of a scrape":        {"/metrics", mostDelay, 10 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.patience)
				defer cancel()
				handled, began := false, time.Now()
				h := delayed(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { handled = true }), test.delay)
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, test.path, nil))
				same.As(t, "handled", test.handled, handled)
				same.As(t, "took", test.took, time.Since(began))
			})
		})
	}
}
