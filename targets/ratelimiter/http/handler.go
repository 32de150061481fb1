package http

import (
	"context"
	"errors"
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
	// Service answers at /api.
	ratelimiter.Service
	About About
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Ping reports whether the store answers.
	Ping func(context.Context) error
	// Metrics answers at /metrics.
	Metrics http.Handler
}

func (c Config) validate() error {
	if c.Ping == nil || c.Metrics == nil {
		return errors.New("http server is incomplete: set Ping and Metrics")
	}
	return c.Validate()
}

// Handler answers every page of the service.
type Handler struct {
	Config
	mux *http.ServeMux
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
	h := &Handler{Config: c, mux: http.NewServeMux()}
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

func (h *Handler) handleReady(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	state, ready := h.Ready(r.Context())
	if !ready {
		status = http.StatusServiceUnavailable
	}
	reply.Reply{Status: status, Body: reply.State{Status: state}}.Write(w)
}

// Ready says no until the store has answered once, and never again for the
// store's sake. A rollout has to stop at replicas that cannot reach it: their
// address may be wrong, and those they would replace serve. An outage meets all
// replicas alike; if they were taken out of service, no replica would be left to
// report the outage and a Retry-After. The open policy needs no store at all.
func (h *Handler) Ready(ctx context.Context) (state string, ready bool) {
	if h.draining.Load() {
		return "draining", false
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	switch err := h.Ping(ctx); {
	case err == nil:
		h.reached.Store(true)
		return "ready", true
	case h.reached.Load() || h.OnStoreFailure == ratelimiter.Open:
		return "ready, without the store", true
	default:
		h.Logger.Warn("not ready", "error", err)
		return "store not reached yet", false
	}
}

// IsReady is Ready without its word.
func (h *Handler) IsReady(ctx context.Context) bool {
	_, ready := h.Ready(ctx)
	return ready
}

func (h *Handler) handleVersion(w http.ResponseWriter, _ *http.Request) {
	reply.Reply{Status: http.StatusOK, Body: h.About}.Write(w)
}

func (h *Handler) handleNotFound(w http.ResponseWriter, _ *http.Request) {
	reply.Failure(http.StatusNotFound, "no such page: use /api, /health, /ready, /version or /metrics").Write(w)
}
