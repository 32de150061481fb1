package prometheus

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

var (
	// seconds are for an append in memory up to the service's timeouts.
	seconds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	// sizes are for a group: from one request to the writer's bound.
	sizes = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}
)

// Metrics count requests and commits.
type Metrics struct {
	requests map[eventstore.Operation]map[eventstore.Outcome]prometheus.Counter
	duration map[eventstore.Operation]prometheus.Observer
	read     prometheus.Counter

	appended               prometheus.Counter
	committed, failed      prometheus.Counter
	groupRequests          prometheus.Observer
	groupEvents, groupTook prometheus.Observer
}

// New registers the metrics of a service in which waiting tells how many requests
// wait to be stored. Every series exists from the start, so that a count of 0
// differs from an absent series.
func New(registry prometheus.Registerer, waiting func() int) (*Metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "eventstore_requests_total", Help: "Requests, each counted once when its outcome was known.",
	}, []string{"operation", "outcome"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "eventstore_request_duration_seconds", Help: "Time from a request to its outcome.", Buckets: seconds,
	}, []string{"operation"})
	commits := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "eventstore_commits_total", Help: "Transactions of the writers.",
	}, []string{"outcome"})
	read := counter("eventstore_events_read_total", "Events sent to clients.")
	appended := counter("eventstore_events_appended_total", "Events stored durably; a repetition by its key stores none.")
	groupRequests := histogram("eventstore_commit_requests", "Requests that shared a transaction.", sizes)
	groupEvents := histogram("eventstore_commit_events", "Events that a transaction stored.", sizes)
	groupTook := histogram("eventstore_commit_duration_seconds", "Time of a transaction, with its sync to the disk.", seconds)
	queue := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "eventstore_waiting_requests", Help: "Requests that wait for a writer.",
	}, func() float64 { return float64(waiting()) })
	for _, c := range []prometheus.Collector{requests, duration, commits, read, appended, groupRequests, groupEvents, groupTook, queue} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	m := &Metrics{
		requests: map[eventstore.Operation]map[eventstore.Outcome]prometheus.Counter{},
		duration: map[eventstore.Operation]prometheus.Observer{},
		read:     read, appended: appended,
		committed: commits.WithLabelValues("committed"), failed: commits.WithLabelValues("failed"),
		groupRequests: groupRequests, groupEvents: groupEvents, groupTook: groupTook,
	}
	for _, op := range eventstore.Operations() {
		m.duration[op] = duration.WithLabelValues(string(op))
		m.requests[op] = map[eventstore.Outcome]prometheus.Counter{}
		for _, outcome := range eventstore.Outcomes() {
			m.requests[op][outcome] = requests.WithLabelValues(string(op), string(outcome))
		}
	}
	return m, nil
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// Request counts one request.
func (m *Metrics) Request(o eventstore.Observation) {
	m.requests[o.Operation][o.Outcome].Inc()
	m.duration[o.Operation].Observe(o.Took.Seconds())
	m.read.Add(float64(o.Read))
}

// Commit counts one transaction.
func (m *Metrics) Commit(c eventstore.Commit) {
	m.groupTook.Observe(c.Took.Seconds())
	if c.Failed {
		m.failed.Inc()
		return
	}
	m.committed.Inc()
	m.appended.Add(float64(c.Events))
	m.groupRequests.Observe(float64(c.Requests))
	m.groupEvents.Observe(float64(c.Events))
}

// Handler shows what the registry gathers.
func Handler(registry prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
