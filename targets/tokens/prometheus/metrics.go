package prometheus

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

var (
	requests = prometheus.NewDesc("tokens_requests_total", "Requests by what became of them: refused because the server was full, finished, or abandoned by the client.", []string{"outcome"}, nil)
	prompt   = prometheus.NewDesc("tokens_prompt_tokens_total", "Prompt tokens of the requests that were accepted.", nil, nil)
	given    = prometheus.NewDesc("tokens_generated_tokens_total", "Tokens that requests were given.", nil, nil)
	running  = prometheus.NewDesc("tokens_requests_running", "Requests that have a slot.", nil, nil)
	waiting  = prometheus.NewDesc("tokens_requests_waiting", "Requests that wait for a slot.", nil, nil)
)

// collector reads the counts of one instant each time that it is asked.
type collector struct{ service *tokens.Service }

var _ prometheus.Collector = collector{}

// Register registers the metrics of a service.
func Register(registry prometheus.Registerer, service *tokens.Service) error {
	if err := registry.Register(collector{service}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

// Describe says which metrics there are.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{requests, prompt, given, running, waiting} {
		out <- d
	}
}

// Collect reads them.
func (c collector) Collect(out chan<- prometheus.Metric) {
	n := c.service.Counts()
	count := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	count(requests, n.Refused, "refused")
	count(requests, n.Finished, "finished")
	count(requests, n.Abandoned, "abandoned")
	count(prompt, n.PromptTokens)
	count(given, n.Tokens)
	out <- prometheus.MustNewConstMetric(running, prometheus.GaugeValue, float64(n.Running))
	out <- prometheus.MustNewConstMetric(waiting, prometheus.GaugeValue, float64(n.Waiting))
}

// Handler shows what the registry gathers.
func Handler(registry prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
