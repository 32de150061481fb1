package loadtest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Metrics counts what became of runs.
type Metrics struct {
	finished *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{finished: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "loadtest_runs_finished_total", Help: "Finished runs by verdict.",
	}, []string{"verdict"})}
	reg.MustRegister(m.finished)
	return m
}

// observe counts a change of status that has been written.
func (m *Metrics) observe(before, after v1alpha1.LoadTestStatus) {
	if m != nil && before.Verdict == "" && after.Verdict != "" {
		m.finished.WithLabelValues(string(after.Verdict)).Inc()
	}
}
