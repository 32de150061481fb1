package http

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// pingTimeout bounds the readiness check, below the usual timeout of a probe.
const pingTimeout = time.Second

// About is what the service says of itself at /version, so that a load test can
// check what it is about to test. A setting of a variant that is off is left
// out.
type About struct {
	Version     string        `json:"version"`
	InstanceID  string        `json:"instanceId"`
	API         shortener.API `json:"api"`
	Shards      int           `json:"shards"`
	Connections string        `json:"connections"`
	PoolSize    int           `json:"poolSize,omitempty"`
	LinkIndex   bool          `json:"linkIndex"`
	CodeLength  int           `json:"codeLength"`
	LinkTTL     string        `json:"linkTtl"`

	Cache            string `json:"cache"`
	CacheTTL         string `json:"cacheTtl,omitempty"`
	CacheNegativeTTL string `json:"cacheNegativeTtl,omitempty"`

	Clicks string `json:"clicks"`

	RateLimit          bool    `json:"rateLimit"`
	RateLimitPerSecond float64 `json:"rateLimitPerSecond,omitempty"`
	RateLimitBurst     int     `json:"rateLimitBurst,omitempty"`
}

// state is how the service is, and what of it is down.
type state struct {
	Status string   `json:"status"`
	Down   []string `json:"down,omitempty"`
}

// health says that the process serves; it asks nobody, since a restart would
// bring no database back.
func (h *Handler) health(*http.Request, string) result {
	return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "healthy"}})
}

func (h *Handler) ready(r *http.Request, _ string) result {
	if h.draining.Load() {
		return answer(reply.Reply{Status: http.StatusServiceUnavailable, Body: state{Status: "draining"}})
	}
	ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
	defer cancel()
	err := h.Service.Ping(ctx)
	if err == nil {
		return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "ready"}})
	}
	h.Logger.Warn("not ready, or not wholly", "error", err)
	if degraded, ok := errors.AsType[*shortener.Degraded](err); ok {
		return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "degraded", Down: degraded.Down}})
	}
	return answer(reply.Reply{Status: http.StatusServiceUnavailable, Body: state{Status: "store unreachable"}})
}

func (h *Handler) version(*http.Request, string) result {
	return answer(reply.Reply{Status: http.StatusOK, Body: h.About})
}

// metrics is counted before it is written, so that the page shows itself.
func (h *Handler) metrics(r *http.Request, _ string) result {
	return result{http.StatusOK, func(w http.ResponseWriter) { h.Metrics.ServeHTTP(w, r) }}
}
