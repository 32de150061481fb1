package http

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// pingTimeout bounds the check of all logs.
const pingTimeout = 2 * time.Second

// About is what the service says of itself at /version, so that a load test can
// check what it is about to test.
type About struct {
	Version     string `json:"version"`
	InstanceID  string `json:"instanceId"`
	Synchronous string `json:"synchronous"`
	GroupCommit bool   `json:"groupCommit"`
	Readers     int    `json:"readers"`
	// MemoryLimit is that of the container, as it was installed.
	MemoryLimit       string `json:"memoryLimit,omitempty"`
	Tenants           int    `json:"tenants"`
	OpenLogs          int    `json:"openLogs,omitempty"`
	Authentication    bool   `json:"authentication"`
	IdempotencyWindow int64  `json:"idempotencyWindow"`
	Gzip              bool   `json:"gzip"`
	// Delay is how long each request waits before it is handled: "0s" if it does not.
	Delay              string  `json:"delay"`
	RateLimit          bool    `json:"rateLimit"`
	RateLimitPerSecond float64 `json:"rateLimitPerSecond,omitempty"`
	RateLimitBurst     int     `json:"rateLimitBurst,omitempty"`
}

// unwell is the state of a service that cannot do its work, and why.
type unwell struct {
	Status string `json:"status"`
	Error  string `json:"error"`
}

// Drain makes /ready say no from now on, so that no new client is sent here.
func (h *Handler) Drain() { h.draining.Store(true) }

// handleHealth says that the process serves and reads what it has stored. A log
// that stays unreadable is a reason to restart: its files are local, so that no
// other outage can be the cause.
func (h *Handler) handleHealth(w http.ResponseWriter, r *http.Request) {
	if err := h.ping(r.Context()); err != nil {
		h.Logger.Warn("not healthy", "error", err)
		reply.Reply{Status: http.StatusServiceUnavailable, Body: unwell{"unhealthy", "a log cannot be read"}}.Write(w)
		return
	}
	reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "healthy"}}.Write(w)
}

func (h *Handler) handleReady(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		reply.Reply{Status: http.StatusServiceUnavailable, Body: reply.State{Status: "draining"}}.Write(w)
		return
	}
	if !h.IsReady(r.Context()) {
		reply.Reply{Status: http.StatusServiceUnavailable, Body: unwell{"not ready", "a log cannot be read"}}.Write(w)
		return
	}
	reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "ready"}}.Write(w)
}

// IsReady reports whether clients should be sent here.
func (h *Handler) IsReady(ctx context.Context) bool {
	err := h.ping(ctx)
	if err != nil {
		h.Logger.Warn("not ready", "error", err)
	}
	return err == nil && !h.draining.Load()
}

// ping reads each log that is in use.
func (h *Handler) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	var errs []error
	for _, s := range h.Open() {
		errs = append(errs, s.Ping(ctx))
	}
	return errors.Join(errs...)
}

func (h *Handler) handleVersion(w http.ResponseWriter, _ *http.Request) {
	reply.Reply{Status: http.StatusOK, Body: h.About}.Write(w)
}

func handleNotFound(w http.ResponseWriter, _ *http.Request) {
	reply.Failure(http.StatusNotFound, "no such page: use /events, /events/batch, /events/stream, /position, /subscriptions/{id}/position, /health, /ready, /version or /metrics").Write(w)
}
