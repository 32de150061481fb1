package workertest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// Patience bounds a wait that should not take long; it is no assertion.
const Patience = 2 * time.Minute

// Target counts the requests that it serves: the oracle of every count.
type Target struct {
	*httptest.Server
	served atomic.Int64
}

// NewTarget starts a target; handle may be nil.
func NewTarget(t *testing.T, handle http.HandlerFunc) *Target {
	t.Helper()
	return Serve(t, handle, (*httptest.Server).Start)
}

// Serve starts a target in another way, such as over TLS.
func Serve(t *testing.T, handle http.HandlerFunc, start func(*httptest.Server)) *Target {
	t.Helper()
	s := &Target{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.served.Add(1)
		if handle != nil {
			handle(w, r)
		}
	}))
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

// Served is how many requests came so far.
func (s *Target) Served() int64 { return s.served.Load() }

// Serves waits until n requests came, and fails the test if more did.
func (s *Target) Serves(t *testing.T, n int64) {
	t.Helper()
	for deadline := time.After(Patience); s.Served() < n; {
		select {
		case <-deadline:
			t.Fatalf("the server served %d requests, want %d", s.Served(), n)
		case <-time.After(time.Millisecond):
		}
	}
	if got := s.Served(); got != n {
		t.Errorf("the server served %d requests, want %d", got, n)
	}
}
