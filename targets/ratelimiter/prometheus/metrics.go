package prometheus

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// buckets are for one round trip to a store nearby (a fraction of a
// millisecond) up to the store's timeouts, about two per doubling at the fast
// end, where strategies differ.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}

// Metrics counts requests.
type Metrics struct {
	requests map[ratelimiter.Outcome]prometheus.Counter
	duration map[ratelimiter.Outcome]prometheus.Observer
}

// New registers the metrics of a replica that runs the strategy. Every series
// exists from the start, so that a count of 0 differs from an absent series.
func New(registry prometheus.Registerer, strategy ratelimiter.Strategy) (*Metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ratelimiter_requests_total",
		Help: "Requests over HTTP and gRPC, each counted once when it was decided.",
	}, []string{"decision", "strategy"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "ratelimiter_request_duration_seconds",
		Help:    "Time from a request to its decision.",
		Buckets: buckets,
	}, []string{"decision", "strategy"})
	for _, c := range []prometheus.Collector{requests, duration} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	m := &Metrics{
		requests: map[ratelimiter.Outcome]prometheus.Counter{},
		duration: map[ratelimiter.Outcome]prometheus.Observer{},
	}
	for _, outcome := range ratelimiter.Outcomes() {
		m.requests[outcome] = requests.WithLabelValues(string(outcome), string(strategy))
		m.duration[outcome] = duration.WithLabelValues(string(outcome), string(strategy))
	}
	return m, nil
}

// Observe counts one request.
func (m *Metrics) Observe(outcome ratelimiter.Outcome, took time.Duration) {
	m.requests[outcome].Inc()
	m.duration[outcome].Observe(took.Seconds())
}

// Handler shows what the registry gathers.
func Handler(registry prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
