package http

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// Config is what the service is made of.
type Config struct {
	// Gate lets clients in.
	eventstore.Gate
	// Open are the logs in use, by which the service's health is judged.
	Open  func() []eventstore.Store
	About About
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Gzip compresses events for clients that accept it.
	Gzip bool
	// Observe receives each request to the API, once.
	Observe func(eventstore.Observation)
	// Metrics answers at /metrics.
	Metrics http.Handler
	Now     func() time.Time
	Logger  *slog.Logger
}

func (c Config) validate() error {
	if c.Stores == nil || c.Bodies == nil || c.Open == nil || c.Observe == nil || c.Metrics == nil || c.Now == nil || c.Logger == nil {
		return errors.New("http server is incomplete: set Stores, Bodies, Open, Observe, Metrics, Now and Logger")
	}
	return nil
}

// Handler answers every page of the service.
type Handler struct {
	Config
	mux      *http.ServeMux
	draining atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	h := &Handler{Config: c, mux: http.NewServeMux()}
	point := func(op eventstore.Operation, do action) http.Handler {
		return h.action(op, eventstore.PointTimeout, do)
	}
	move := point(eventstore.MoveReader, h.moveSubscription)
	h.mux.Handle("/events", h.compressed(methods{
		"POST": point(eventstore.AppendEvent, h.appendEvent),
		"GET":  h.sequence(eventstore.ReadRange, eventRange),
	}))
	h.mux.Handle("/events/batch", h.compressed(methods{"POST": h.action(eventstore.AppendBatch, eventstore.BulkTimeout, h.appendBatch)}))
	h.mux.Handle("/events/stream", h.compressed(methods{"GET": h.sequence(eventstore.ReadStream, eventStream)}))
	h.mux.Handle("/position", methods{"GET": point(eventstore.ReadPosition, readPosition)})
	h.mux.Handle("/subscriptions/{id}/position", methods{
		"GET": point(eventstore.ReadReader, h.readSubscription), "PUT": move, "POST": move,
	})
	if c.Access.Multi {
		h.mux.Handle("/tenants", methods{"GET": point(eventstore.ListTenants, ownTenant)})
	}
	h.mux.Handle("/health", methods{"GET": http.HandlerFunc(h.handleHealth)})
	h.mux.Handle("/ready", methods{"GET": http.HandlerFunc(h.handleReady)})
	h.mux.Handle("/version", methods{"GET": http.HandlerFunc(h.handleVersion)})
	h.mux.Handle("/metrics", methods{"GET": c.Metrics})
	h.mux.HandleFunc("/", handleNotFound)
	return h, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// methods are a page's handlers by method; HEAD is answered as GET is.
type methods map[string]http.Handler

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handler, ok := m[method]; ok {
		handler.ServeHTTP(w, r)
		return
	}
	var allowed []string
	for name := range m {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	answer := reply.Failure(http.StatusMethodNotAllowed, "Method not allowed")
	answer.Headers = []reply.Header{{Name: "Allow", Value: strings.Join(allowed, ", ")}}
	answer.Write(w)
}

// action does what a request asks for and answers it.
type action func(ctx context.Context, r *http.Request, c eventstore.Caller) answer

// action makes a handler of an action: it is observed, then answered.
func (h *Handler) action(op eventstore.Operation, timeout time.Duration, do action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := h.Now()
		answer := h.perform(r, timeout, do)
		h.Observe(eventstore.Observation{Operation: op, Outcome: answer.outcome(), Took: h.Now().Sub(start)})
		answer.write(w)
	})
}

// perform turns every way in which a request can end into one answer. A panic
// is one of them; let through, it would leave the request uncounted.
func (h *Handler) perform(r *http.Request, timeout time.Duration, do action) (a answer) {
	defer func() {
		if v := recover(); v != nil {
			h.Logger.Error("panic while answering", "panic", v)
			a = replied(reply.Failure(http.StatusInternalServerError, "internal error"))
		}
	}()
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	c, err := h.admit(ctx, r)
	if err != nil {
		a = replied(h.failure(err))
	} else {
		a = do(ctx, r, c)
	}
	a.unread = a.Status >= http.StatusInternalServerError && r.Context().Err() != nil
	return a
}
