package prometheus

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// buckets are for a redirect from a cache nearby (a fraction of a millisecond)
// up to the store's timeout, about two per doubling at the fast end, where the
// variants differ.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}

// classes are the first digits of statuses, 1 to 5.
const classes = 5

// events are the names and help texts of the counted events.
var events = map[shortener.Event]struct{ name, help string }{
	shortener.LinkCreated:      {"links_created_total", "Links that were created."},
	shortener.Collision:        {"collisions_total", "Random codes that were drawn and taken already."},
	shortener.Redirected:       {"redirects_total", "Visits that were led on. A HEAD request is none."},
	shortener.RateLimited:      {"rate_limited_total", "Requests that were refused because their client asks too often."},
	shortener.CacheHit:         {"cache_hits_total", "Links found in the cache."},
	shortener.CacheNegativeHit: {"cache_negative_hits_total", "Codes that the cache had as codes without a link."},
	shortener.CacheMiss:        {"cache_misses_total", "Codes that the cache did not have, and the store was asked for."},
	shortener.CacheFailure:     {"cache_failures_total", "Codes that the store was asked for because the cache did not answer."},
	shortener.ClickQueued:      {"clicks_queued_total", "Clicks that were accepted for delivery."},
	shortener.ClickStored:      {"clicks_stored_total", "Clicks that were added to the store."},
	shortener.ClickDuplicate:   {"clicks_duplicate_total", "Clicks that were delivered again, and not added."},
	shortener.ClickLost:        {"clicks_lost_total", "Clicks that will never be stored: those that found the buffer full, and those that were queued and given up at the end, unless they were stored without the queue."},
	shortener.ClickRejected:    {"clicks_rejected_total", "Messages in the queue that are no clicks."},
}

// Metrics counts events and requests.
type Metrics struct {
	events   []prometheus.Counter
	requests [][classes + 1]prometheus.Counter // by route and class
	duration []prometheus.Observer             // by route
}

// New registers the metrics.
func New(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{}
	var collectors []prometheus.Collector
	for _, e := range shortener.Events() {
		counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "shortener_" + events[e].name, Help: events[e].help})
		m.events = append(m.events, counter)
		collectors = append(collectors, counter)
	}
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "shortener_requests_total",
		Help: "Requests by what they were for and the class of the status, each counted once when it was decided.",
	}, []string{"route", "code"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "shortener_request_duration_seconds",
		Help:    "Time from a request to its decision.",
		Buckets: buckets,
	}, []string{"route"})
	for _, c := range append(collectors, requests, duration) {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	for _, route := range shortener.Routes() {
		var byClass [classes + 1]prometheus.Counter
		for class := 2; class <= classes; class++ {
			byClass[class] = requests.WithLabelValues(route.String(), fmt.Sprintf("%dxx", class))
		}
		m.requests = append(m.requests, byClass)
		m.duration = append(m.duration, duration.WithLabelValues(route.String()))
	}
	return m, nil
}

// Count counts n of an event.
func (m *Metrics) Count(e shortener.Event, n int) { m.events[e].Add(float64(n)) }

// Observe counts one request, whose status is 200 to 599.
func (m *Metrics) Observe(route shortener.Route, status int, took time.Duration) {
	m.requests[route][status/100].Inc()
	m.duration[route].Observe(took.Seconds())
}

// Handler shows what the registry gathers.
func Handler(registry prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// lagTimeout bounds what a scrape waits for a queue to say how long it is.
const lagTimeout = 2 * time.Second

// RegisterLag shows how many clicks are queued and not stored yet, asked at
// each scrape; -1 says that the queue did not answer.
func RegisterLag(registry prometheus.Registerer, lag func(context.Context) (int64, error)) error {
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shortener_clicks_lag",
		Help: "Clicks that are queued and not stored yet; -1 when the queue does not answer.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), lagTimeout)
		defer cancel()
		n, err := lag(ctx)
		if err != nil {
			return -1
		}
		return float64(n)
	})
	if err := registry.Register(gauge); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}
