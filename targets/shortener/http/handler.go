package http

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// Throttle decides whether a client may be served now, and when not, how long
// it has to wait.
type Throttle interface {
	Allow(client string) (ok bool, retryAfter time.Duration)
}

// Config is what the server is made of.
type Config struct {
	Service *shortener.Service
	API     shortener.API
	// BaseURL is what short URLs begin with, without a slash at its end.
	BaseURL string
	About   About
	// Throttle limits clients; nil limits none.
	Throttle Throttle
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Count counts redirects and requests that were limited; Observe is told of
	// each request, once, before its reply is sent.
	Count   shortener.Count
	Observe func(route shortener.Route, status int, took time.Duration)
	// Metrics answers at /metrics.
	Metrics http.Handler
	Now     func() time.Time
	Logger  *slog.Logger
}

func (c Config) validate() error {
	if c.Service == nil || c.Count == nil || c.Observe == nil || c.Metrics == nil || c.Now == nil || c.Logger == nil {
		return errors.New("http server is incomplete: set Service, Count, Observe, Metrics, Now and Logger")
	}
	_, err := shortener.ParseAPI(string(c.API))
	return err
}

// Handler answers every page of the service.
type Handler struct {
	Config
	redirectStatus int
	exact, prefix  map[string]page
	draining       atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// action answers a request; rest is what follows a prefix in its path.
type action func(r *http.Request, rest string) result

// result is a whole answer as a value: nothing is sent until it is counted.
type result struct {
	status int
	write  func(http.ResponseWriter)
}

func answer(r reply.Reply) result { return result{r.Status, r.Write} }

func problem(status int, sentence string) result { return answer(reply.Failure(status, sentence)) }

// page is what answers at a path.
type page struct {
	route   shortener.Route
	limited bool // by the throttle
	methods map[string]action
}

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	h := &Handler{Config: c, redirectStatus: http.StatusFound}
	h.exact = map[string]page{
		"/urls":    {shortener.RouteCreate, true, map[string]action{http.MethodPost: h.create}},
		"/stats":   {shortener.RouteStats, true, read(h.stats)},
		"/health":  {shortener.RouteHealth, false, read(h.health)},
		"/ready":   {shortener.RouteReady, false, read(h.ready)},
		"/version": {shortener.RouteVersion, false, read(h.version)},
		"/metrics": {shortener.RouteMetrics, false, read(h.metrics)},
	}
	h.prefix = map[string]page{"/urls/": {shortener.RouteDetails, true, read(h.details)}}
	switch c.API {
	case shortener.Seed001:
		h.redirectStatus = http.StatusMovedPermanently
		h.exact["/shorten"] = page{shortener.RouteCreate, true, map[string]action{http.MethodPost: h.createFromForm}}
	case shortener.Seed002:
		h.exact["/api/urls"] = page{shortener.RouteCreate, true, map[string]action{http.MethodPost: h.createSeed002}}
		h.prefix["/api/urls/"] = page{shortener.RouteDetails, true, read(h.detailsSeed002)}
	}
	return h, nil
}

// read is the methods of a page that changes nothing.
func read(a action) map[string]action {
	return map[string]action{http.MethodGet: a, http.MethodHead: a}
}

// Drain makes /ready say no from now on, so that no new client is sent here.
func (h *Handler) Drain() { h.draining.Store(true) }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.Now()
	if path := r.URL.Path; len(path) > 1 && shortener.IsCode(path[1:]) {
		h.redirect(w, r, path[1:], start)
		return
	}
	p, rest := h.find(r.URL.Path)
	answered := h.guarded(func() result { return h.answer(p, r, rest) })
	h.Observe(p.route, answered.status, h.Now().Sub(start))
	answered.write(w)
}

// find returns the page of a path, and what of the path follows it.
func (h *Handler) find(path string) (p page, rest string) {
	if p, ok := h.exact[path]; ok {
		return p, ""
	}
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if p, ok := h.prefix[path[:i+1]]; ok {
			return p, path[i+1:]
		}
	}
	return page{route: shortener.RouteOther}, ""
}

func (h *Handler) answer(p page, r *http.Request, rest string) result {
	if p.route == shortener.RouteOther {
		return problem(http.StatusNotFound, "no such page")
	}
	do, ok := p.methods[r.Method]
	if !ok {
		return notAllowed(p.methods)
	}
	if p.limited {
		if refused, no := h.limit(r); no {
			return refused
		}
	}
	return do(r, rest)
}

func notAllowed(methods map[string]action) result {
	allowed := http.MethodPost
	if methods[http.MethodPost] == nil {
		allowed = http.MethodGet + ", " + http.MethodHead
	}
	refusal := reply.Failure(http.StatusMethodNotAllowed, "method not allowed: use "+allowed)
	refusal.Headers = []reply.Header{{Name: "Allow", Value: allowed}}
	return answer(refusal)
}

// guarded makes of a panic a result like any other; let through, it would
// leave the request uncounted.
func (h *Handler) guarded(do func() result) (answered result) {
	defer func() {
		if v := recover(); v != nil {
			h.Logger.Error("panic while answering", "panic", fmt.Sprint(v))
			answered = problem(http.StatusInternalServerError, "An unexpected error occurred")
		}
	}()
	return do()
}
