package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// A request is small; one that takes longer than this to arrive is an
	// attempt to hold a connection.
	readTimeout = 10 * time.Second
	// writeTimeout covers the decision as well.
	writeTimeout = 15 * time.Second
	// idleTimeout is longer than a proxy keeps idle connections (Nginx: 60 s),
	// so that the proxy closes first: else it would now and then send a request
	// into a connection that is just being closed here.
	idleTimeout = 120 * time.Second
	// maxHeader is room for long cookies, and no more.
	maxHeader = 16 << 10
	// drainTimeout is the time that requests in flight have to finish.
	drainTimeout = 20 * time.Second
)

// Serve answers on the listener until ctx ends. Then it says at /ready that it
// drains, serves on for as long as delay (the time it takes until a cluster no
// longer sends clients here), and finishes the requests in flight.
func Serve(ctx context.Context, ln net.Listener, h *Handler, delay time.Duration) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(h.Logger.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	h.Drain()
	h.Logger.Info("draining", "delay", delay.String())
	select {
	case err := <-failed:
		return fmt.Errorf("serve while draining: %w", err)
	case <-time.After(delay):
	}
	return shutDown(server, failed)
}

func shutDown(server *http.Server, failed <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("finish requests in flight: %w", err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
