package http

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

// About is what the service says of itself at /version, so that a load test can check what
// it is about to test. Times are in microseconds.
type About struct {
	Version              string `json:"version"`
	InstanceID           string `json:"instanceId"`
	Slots                int    `json:"slots"`
	Queue                int    `json:"queue"`
	Context              int    `json:"context"`
	PerPromptTokenMicros int64  `json:"perPromptTokenMicros"`
	StepMicros           int64  `json:"stepMicros"`
	PerSequenceMicros    int64  `json:"perSequenceMicros"`
}

// Config is what the service is made of.
type Config struct {
	// Service generates the tokens.
	Service *tokens.Service
	// Version and InstanceID are for /version.
	Version    string
	InstanceID string
	// Metrics answers at /metrics.
	Metrics http.Handler
	Now     func() time.Time
}

// Handler answers every page of the service.
type Handler struct {
	Config
	mux      *http.ServeMux
	answers  atomic.Uint64
	bodies   atomic.Int64 // bytes of requests that are being read
	draining atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	if c.Service == nil || c.Metrics == nil || c.Now == nil {
		return nil, errors.New("http server is incomplete: set Service, Metrics and Now")
	}
	h := &Handler{Config: c, mux: http.NewServeMux()}
	h.mux.HandleFunc("POST /v1/chat/completions", h.complete(chat))
	h.mux.HandleFunc("POST /v1/completions", h.complete(completion))
	for _, path := range []string{"/v1/chat/completions", "/v1/completions"} {
		h.mux.HandleFunc(path, handleOtherMethod)
	}
	h.mux.HandleFunc("/health", handleHealth) // as other targets have it, and as other servers of models do:
	h.mux.HandleFunc("/healthz", handleHealth)
	h.mux.HandleFunc("/ready", h.handleReady)
	h.mux.HandleFunc("/version", h.handleVersion)
	h.mux.Handle("/metrics", c.Metrics)
	h.mux.HandleFunc("/", handleNotFound)
	return h, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Drain makes /ready say no from now on, so that no new client is sent here.
func (h *Handler) Drain() { h.draining.Store(true) }

func handleHealth(w http.ResponseWriter, _ *http.Request) {
	reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "healthy"}}.Write(w)
}

func (h *Handler) handleReady(w http.ResponseWriter, _ *http.Request) {
	if h.draining.Load() {
		reply.Reply{Status: http.StatusServiceUnavailable, Body: reply.State{Status: "draining"}}.Write(w)
		return
	}
	reply.Reply{Status: http.StatusOK, Body: reply.State{Status: "ready"}}.Write(w)
}

func (h *Handler) handleVersion(w http.ResponseWriter, _ *http.Request) {
	p := h.Service.Parameters()
	reply.Reply{Status: http.StatusOK, Body: About{
		Version: h.Version, InstanceID: h.InstanceID, Slots: p.Slots, Queue: p.Queue, Context: p.Context,
		PerPromptTokenMicros: p.PerPromptToken.Microseconds(), StepMicros: p.Step.Microseconds(), PerSequenceMicros: p.PerSequence.Microseconds(),
	}}.Write(w)
}

func handleOtherMethod(w http.ResponseWriter, r *http.Request) {
	p := invalid("", "Only POST is allowed on %s.", r.URL.Path).as(http.StatusMethodNotAllowed, "method_not_supported")
	p.headers = []reply.Header{{Name: "Allow", Value: http.MethodPost}}
	p.write(w)
}

func handleNotFound(w http.ResponseWriter, _ *http.Request) {
	invalid("", "No such page: use /v1/chat/completions, /v1/completions, /health, /ready, /version or /metrics.").
		as(http.StatusNotFound, "unknown_url").write(w)
}
