package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func options(handler http.HandlerFunc) (o Options, drained <-chan struct{}) {
	drain := make(chan struct{})
	return Options{
		Handler: handler, Drain: func() { close(drain) },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, drain
}

// A request in flight is answered although the server is stopping.
func TestServeFinishesRequestsInFlight(t *testing.T) {
	entered, decide := make(chan struct{}), make(chan struct{})
	o, drained := options(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-decide
	})
	ln := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, o) }()

	type result struct {
		status int
		err    error
	}
	answered := make(chan result, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String() + "/")
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
	<-drained
	close(decide)
	if got := <-answered; got.status != 200 || got.err != nil {
		t.Errorf("request in flight: %+v, want status 200", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve() = %v", err)
	}
	// Not by a connection: the port may be another process's by now.
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after the end: %v, want %v", err, net.ErrClosed)
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	ln := listen(t)
	ln.Close()
	o, _ := options(nil)
	err := Serve(t.Context(), ln, o)
	if err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("Serve() = %v, want an error that begins with serve", err)
	}
}

func TestInstancesDiffer(t *testing.T) {
	if a, b := InstanceID(), InstanceID(); a == b || a == "" {
		t.Errorf("two instances are %q and %q", a, b)
	}
}
