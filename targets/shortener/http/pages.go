package http

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// pingTimeout bounds the readiness check, below the usual timeout of a probe.
const pingTimeout = time.Second

// PagesConfig is what the pages of a process are made of.
type PagesConfig struct {
	// About is shown at /version, as JSON.
	About any
	// Ready reports whether the process can do its work: nil, a
	// *shortener.Degraded when it can do a part of it, and any other error when
	// it cannot.
	Ready func(context.Context) error
	// Metrics answers at /metrics.
	Metrics http.Handler
	// Observe receives each request, once, before its reply is sent.
	Observe func(route shortener.Route, status int, took time.Duration)
	Now     func() time.Time
	Logger  *slog.Logger
}

func (c PagesConfig) validate() error {
	if c.About == nil || c.Ready == nil || c.Metrics == nil || c.Observe == nil || c.Now == nil || c.Logger == nil {
		return errors.New("http pages are incomplete: set About, Ready, Metrics, Observe, Now and Logger")
	}
	return nil
}

// Pages answers what every process of the shortener is asked.
type Pages struct {
	router
	about    any
	check    func(context.Context) error
	page     http.Handler
	draining atomic.Bool
}

var _ http.Handler = (*Pages)(nil)

// NewPages returns the pages of a complete configuration.
func NewPages(c PagesConfig) (*Pages, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	p := &Pages{
		router: router{prefix: map[string]page{}, observe: c.Observe, now: c.Now, logger: c.Logger},
		about:  c.About, check: c.Ready, page: c.Metrics,
	}
	p.exact = map[string]page{
		"/health":  {shortener.RouteHealth, read(p.health)},
		"/ready":   {shortener.RouteReady, read(p.ready)},
		"/version": {shortener.RouteVersion, read(p.version)},
		"/metrics": {shortener.RouteMetrics, read(p.metrics)},
	}
	return p, nil
}

// Drain makes /ready say no from now on, so that no new client is sent here.
func (p *Pages) Drain() { p.draining.Store(true) }

// state is how the service is, and what of it is down.
type state struct {
	Status string   `json:"status"`
	Down   []string `json:"down,omitempty"`
}

// health says that the process serves; it asks no database, since a restart would
// not bring one back.
func (p *Pages) health(*http.Request, string) result {
	return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "healthy"}})
}

func (p *Pages) ready(r *http.Request, _ string) result {
	if p.draining.Load() {
		return answer(reply.Reply{Status: http.StatusServiceUnavailable, Body: state{Status: "draining"}})
	}
	ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
	defer cancel()
	err := p.check(ctx)
	if err == nil {
		return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "ready"}})
	}
	p.logger.Warn("not ready, or not wholly", "error", err)
	if degraded, ok := errors.AsType[*shortener.Degraded](err); ok {
		return answer(reply.Reply{Status: http.StatusOK, Body: state{Status: "degraded", Down: degraded.Down}})
	}
	return answer(reply.Reply{Status: http.StatusServiceUnavailable, Body: state{Status: "unavailable"}})
}

func (p *Pages) version(*http.Request, string) result {
	return answer(reply.Reply{Status: http.StatusOK, Body: p.about})
}

// metrics is counted before it is written, so that the page shows itself.
func (p *Pages) metrics(r *http.Request, _ string) result {
	return result{http.StatusOK, func(w http.ResponseWriter) { p.page.ServeHTTP(w, r) }}
}
