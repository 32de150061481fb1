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

const (
	// pointTimeout bounds what concerns one event or one number.
	pointTimeout = 5 * time.Second
	// bulkTimeout bounds a batch, and each part of a read.
	bulkTimeout = 30 * time.Second
)

// Config is what the service is made of.
type Config struct {
	Access Access
	// Stores returns a tenant's log when it has been opened.
	Stores func(ctx context.Context, tenant string) (eventstore.Store, error)
	// Open are the logs in use, by which the service's health is judged.
	Open  func() []eventstore.Store
	About About
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Limit says whether a client may ask now; nil is no limit.
	Limit func(client string) (ok bool, retryAfter time.Duration)
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
	if c.Stores == nil || c.Open == nil || c.Observe == nil || c.Metrics == nil || c.Now == nil || c.Logger == nil {
		return errors.New("http server is incomplete: set Stores, Open, Observe, Metrics, Now and Logger")
	}
	return nil
}

// Handler answers every page of the service.
type Handler struct {
	Config
	mux      *http.ServeMux
	bodies   budget
	draining atomic.Bool
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	h := &Handler{Config: c, mux: http.NewServeMux(), bodies: budget{limit: bodiesInFlight}}
	point := func(op eventstore.Operation, do action) http.Handler { return h.action(op, pointTimeout, do) }
	move := point(eventstore.MoveReader, h.moveSubscription)
	h.mux.Handle("/events", h.compressed(methods{
		"POST": point(eventstore.AppendEvent, h.appendEvent),
		"GET":  h.sequence(eventstore.ReadRange, eventRange),
	}))
	h.mux.Handle("/events/batch", h.compressed(methods{"POST": h.action(eventstore.AppendBatch, bulkTimeout, h.appendBatch)}))
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

// caller is the client of a request, and its log.
type caller struct {
	tenant string
	store  eventstore.Store
}

// admit lets a request in, or answers it.
func (h *Handler) admit(ctx context.Context, r *http.Request) (caller, *reply.Reply) {
	if refused := h.limited(r); refused != nil {
		return caller{}, refused
	}
	tenant, refused := h.Access.tenant(r)
	if refused != nil {
		return caller{}, refused
	}
	store, err := h.Stores(ctx, tenant)
	if err != nil {
		answer := h.failure(err)
		return caller{}, &answer
	}
	return caller{tenant, store}, nil
}

// action does what a request asks for and answers it.
type action func(ctx context.Context, r *http.Request, c caller) answer

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
	c, refused := h.admit(ctx, r)
	if refused != nil {
		a = replied(*refused)
	} else {
		a = do(ctx, r, c)
	}
	a.unread = a.Status >= http.StatusInternalServerError && r.Context().Err() != nil
	return a
}
