package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// pingTimeout bounds the readiness check, below the usual timeout of a probe.
const pingTimeout = time.Second

// About is what the service says of itself at /version, so that a load test can
// check what it is about to test.
type About struct {
	Version         string                    `json:"version"`
	Strategy        ratelimiter.Strategy      `json:"strategy"`
	Capacity        int64                     `json:"capacity"`
	RefillPerSecond float64                   `json:"refillPerSecond"`
	MaxRetries      int                       `json:"maxRetries"`
	OnStoreFailure  ratelimiter.FailurePolicy `json:"onStoreFailure"`
	InstanceID      string                    `json:"instanceId"`
}

// Config is what the service is made of.
type Config struct {
	Limiter ratelimiter.Limiter
	About   About
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Ready reports whether the store answers.
	Ready func(context.Context) error
	// StorePause is the time without requests to a failed store, and the
	// Retry-After of the requests that fail meanwhile.
	StorePause time.Duration
	// Observe receives the outcome of each request to /api, once, before the reply
	// is sent.
	Observe func(ratelimiter.Outcome, time.Duration)
	// Metrics answers at /metrics.
	Metrics http.Handler
	Now     func() time.Time
	Logger  *slog.Logger
}

func (c Config) validate() error {
	if c.Limiter == nil || c.Ready == nil || c.Observe == nil || c.Metrics == nil || c.Now == nil || c.Logger == nil {
		return errors.New("http server is incomplete: set Limiter, Ready, Observe, Metrics, Now and Logger")
	}
	if c.StorePause <= 0 {
		return fmt.Errorf("StorePause is %v: use a time above 0s", c.StorePause)
	}
	return nil
}

// Handler answers every page of the service.
type Handler struct {
	Config
	mux    *http.ServeMux
	policy policy
	// reached is whether the store has answered /ready before.
	reached  atomic.Bool
	draining atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	h := &Handler{
		Config: c,
		mux:    http.NewServeMux(),
		policy: newPolicy(ratelimiter.Contract{Capacity: c.About.Capacity, RefillPerSecond: c.About.RefillPerSecond}),
	}
	h.mux.HandleFunc("/api", h.handleAPI)
	h.mux.HandleFunc("/health", h.handleHealth)
	h.mux.HandleFunc("/ready", h.handleReady)
	h.mux.HandleFunc("/version", h.handleVersion)
	h.mux.Handle("/metrics", c.Metrics)
	h.mux.HandleFunc("/", h.handleNotFound)
	return h, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Drain makes /ready say no from now on, so that no new client is sent here.
func (h *Handler) Drain() { h.draining.Store(true) }

// handleHealth says that the process serves; it does not ask Redis, since a restart
// would not bring Redis back.
func (h *Handler) handleHealth(w http.ResponseWriter, _ *http.Request) {
	reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "healthy"}}.Write(w)
}

// handleReady says no until the store has answered once, and never again for the
// store's sake. A rollout has to stop at replicas that cannot reach it: their
// address may be wrong, and those they would replace serve. An outage meets all
// replicas alike; if they were taken out of service, no replica would be left to
// report the outage and a Retry-After. The open policy needs no store at all.
func (h *Handler) handleReady(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		reply.Reply{Status: http.StatusServiceUnavailable, Body: reply.State{Status: "draining"}}.Write(w)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
	defer cancel()
	switch err := h.Ready(ctx); {
	case err == nil:
		h.reached.Store(true)
		reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "ready"}}.Write(w)
	case h.reached.Load() || h.About.OnStoreFailure == ratelimiter.Open:
		reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "ready, without the store"}}.Write(w)
	default:
		h.Logger.Warn("not ready", "error", err)
		reply.Reply{Status: http.StatusServiceUnavailable, Body: reply.State{Status: "store not reached yet"}}.Write(w)
	}
}

func (h *Handler) handleVersion(w http.ResponseWriter, _ *http.Request) {
	reply.Reply{Status: http.StatusOK, Body: h.About}.Write(w)
}

func (h *Handler) handleNotFound(w http.ResponseWriter, _ *http.Request) {
	reply.Failure(http.StatusNotFound, "no such page: use /api, /health, /ready, /version or /metrics").Write(w)
}
