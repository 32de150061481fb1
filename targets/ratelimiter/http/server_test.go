package http

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// A request that has begun is answered, though the server is told to stop while
// it waits for its decision.
func TestServeFinishesRequestsInFlight(t *testing.T) {
	entered, decide := make(chan struct{}), make(chan struct{})
	s := newService(t, func(c *Config) {
		c.Limiter = limiterFunc(func(context.Context, string) (ratelimiter.Decision, error) {
			close(entered)
			<-decide
			return ratelimiter.Decision{Allowed: true}, nil
		})
	})
	ln := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, s.Handler, 0) }()

	type result struct {
		status int
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String() + "/api")
		if err != nil {
			answered <- result{err: err}
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		answered <- result{resp.StatusCode, err}
	}()

	<-entered
	stop()
	close(decide)
	if got := <-answered; got.status != 200 || got.err != nil {
		t.Errorf("request in flight: %+v, want status 200", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve() = %v", err)
	}
	if got := s.ask("GET", "/ready"); got.Status != 503 {
		t.Errorf("/ready = %d after the end, want 503", got.Status)
	}
	if conn, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		conn.Close()
		t.Error("still accepts connections after the end")
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	ln := listen(t)
	ln.Close()
	err := Serve(t.Context(), ln, newService(t, nil).Handler, 0)
	if err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("Serve() = %v, want an error that begins with serve", err)
	}
}
