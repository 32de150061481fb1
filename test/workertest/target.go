package workertest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/memory"
)

// Target counts the requests that it serves: the oracle of every count.
type Target struct {
	*httptest.Server
	// Dial connects to a target in memory, whatever the address; nil: it has a socket.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
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
	s.Server = httptest.NewUnstartedServer(s.counted(handle))
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

// OverHTTP2 starts a server of HTTP/2 by prior knowledge, for Serve.
func OverHTTP2(s *httptest.Server) {
	s.Config.Protocols = &http.Protocols{}
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
}

// InMemory starts a target without sockets, for a bubble of testing/synctest.
func InMemory(t *testing.T, handle http.HandlerFunc) *Target {
	t.Helper()
	s, lis := &Target{}, memory.Listen()
	s.Server = &httptest.Server{Listener: lis, Config: &http.Server{Handler: s.counted(handle)}}
	s.Start()
	s.URL = "http://192.0.2.1"
	s.Dial = lis.Dial
	t.Cleanup(s.Close)
	return s
}

// counted counts the requests, and then handles them.
func (s *Target) counted(handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.served.Add(1)
		if handle != nil {
			handle(w, r)
		}
	})
}

// Served is how many requests came so far.
func (s *Target) Served() int64 { return s.served.Load() }

// Serves waits until n requests came, and fails the test if more did.
func (s *Target) Serves(t *testing.T, n int64) {
	t.Helper()
	await.True(t, "the server has served all", func() bool { return s.Served() >= n })
	if got := s.Served(); got != n {
		t.Errorf("the server served %d requests, want %d", got, n)
	}
}
