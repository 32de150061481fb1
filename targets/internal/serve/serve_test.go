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
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
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
	must.Report(t, "Serve()", <-served)
	// Not by a connection: the port may be another process's by now.
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after the end: %v, want %v", err, net.ErrClosed)
	}
}

// Clients close their connections by themselves while a server drains. One that the
// server closed at its end could have the next request in it already, which is lost then.
func TestServeHasClientsLeaveBeforeItEnds(t *testing.T) {
	o, drained := options(func(http.ResponseWriter, *http.Request) {})
	o.Delay = time.Hour
	ln := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, o) }()
	leaves := func() bool {
		resp, err := http.Get("http://" + ln.Addr().String() + "/")
		must.Succeed(t, err)
		must.Succeed(t, resp.Body.Close())
		return resp.Close
	}
	same.As(t, "client leaves before", false, leaves())
	stop()
	<-drained
	same.As(t, "client leaves", true, leaves())
	must.Succeed(t, ln.Close())
	if err := <-served; err == nil || !strings.HasPrefix(err.Error(), "serve while draining: ") {
		t.Errorf("Serve() = %v, want the error of its listener", err)
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

// A server beside begins with the other, and both end together: what is in flight
// is finished, and an error of one is an error of both.
func TestServerBeside(t *testing.T) {
	tests := map[string]struct {
		beside error
		want   string
	}{
		"stops":  {},
		"breaks": {errors.New("broken"), "serve: broken"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := options(nil)
			server := &fake{err: tc.beside, serving: make(chan struct{}), stopped: make(chan struct{})}
			beside, err := ListenBeside(t.Context(), "127.0.0.1:0", server)
			must.Succeed(t, err)
			o.Beside = beside
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				<-server.serving
				if tc.beside == nil {
					stop()
				}
			}()
			got := ""
			if err := Serve(ctx, listen(t), o); err != nil {
				got = err.Error()
			}
			if got != tc.want || server.graceful != (tc.beside == nil) {
				t.Errorf("Serve() = %q, gracefully %v; want %q, %v", got, server.graceful, tc.want, tc.beside == nil)
			}
		})
	}
}

// fake serves until it is stopped, unless it breaks.
type fake struct {
	err              error
	serving, stopped chan struct{}
	graceful         bool
}

func (f *fake) Serve(net.Listener) error {
	close(f.serving)
	if f.err == nil {
		<-f.stopped
	}
	return f.err
}

func (f *fake) GracefulStop() {
	f.graceful = true
	close(f.stopped)
}

func (f *fake) Stop() {}

// What takes longer than the grace is cut off, and said so.
func TestServerBesideThatDoesNotFinishIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &endless{done: make(chan struct{})}
		start := time.Now() // of the simulated clock, which is exact
		if err := shutDown(&http.Server{}, &Beside{Server: server}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("given up after %v, want 20s", took)
		}
		server.Stop()
	})
}

// endless finishes nothing.
type endless struct {
	fake
	done chan struct{}
}

func (e *endless) GracefulStop() { <-e.done }
func (e *endless) Stop()         { close(e.done) }

func TestNoAddressNoServerBeside(t *testing.T) {
	beside, err := ListenBeside(t.Context(), "", nil)
	if beside != nil || err != nil || beside.Address() != "" {
		t.Errorf("server beside = %v, %v at %q, want none", beside, err, beside.Address())
	}
	if _, err := ListenBeside(t.Context(), "nowhere", nil); err == nil {
		t.Error("listens on an address without a port")
	}
}
