package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// A request is small; one that takes longer than this to arrive is an
	// attempt to hold a connection.
	readTimeout = 10 * time.Second
	// idleTimeout is longer than a proxy keeps idle connections (Nginx: 60 s),
	// so that the proxy closes first: else it would now and then send a request
	// into a connection that is just being closed here.
	idleTimeout = 120 * time.Second
	// maxHeader is room for long cookies, and no more.
	maxHeader = 16 << 10
	// drainTimeout is the time that requests in flight have to finish.
	drainTimeout = 20 * time.Second
)

// Options are what servers of the targets differ in.
type Options struct {
	Handler http.Handler
	// Drain makes the service say that it is not ready.
	Drain func()
	// Delay is the time to serve on after that, until a cluster no longer sends
	// clients here.
	Delay time.Duration
	// WriteTimeout is the time that a reply may take, with all that is done for
	// it; 0 is no bound.
	WriteTimeout time.Duration
	// Beside is served as well, if it is there.
	Beside *Beside
	Logger *slog.Logger
}

// Serve answers on the listener until ctx ends. Then it drains, serves on for
// the delay, and finishes the requests in flight.
func Serve(ctx context.Context, ln net.Listener, o Options) error {
	handler := &leaving{Handler: o.Handler}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      o.WriteTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	servers := 1
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(ln) }()
	// An error of one server ends both; after a shutdown this does nothing.
	defer func() { _ = server.Close() }()
	if o.Beside != nil {
		servers++
		go func() { ended <- o.Beside.Server.Serve(o.Beside.Listener) }()
		defer o.Beside.Server.Stop()
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	handler.now.Store(true)
	o.Drain()
	o.Logger.Info("draining", "delay", o.Delay.String())
	select {
	case err := <-ended:
		return fmt.Errorf("serve while draining: %w", err)
	case <-time.After(o.Delay):
	}
	if err := shutDown(server, o.Beside); err != nil {
		return fmt.Errorf("finish requests in flight: %w", err)
	}
	for range servers {
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
	}
	return nil
}

// leaving tells clients to close their connections, once it is time to: with each answer,
// which is when no request is on its way. A connection that the server closes may have the
// next request in it already, which is lost then.
type leaving struct {
	http.Handler
	now atomic.Bool
}

func (l *leaving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.now.Load() {
		w.Header().Set("Connection", "close")
	}
	l.Handler.ServeHTTP(w, r)
}

// shutDown finishes the requests in flight of both servers at the same time.
func shutDown(server *http.Server, beside *Beside) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if beside != nil {
			beside.Server.GracefulStop()
		}
	}()
	if err := server.Shutdown(ctx); err != nil {
		return err
	}
	select {
	case <-finished:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
