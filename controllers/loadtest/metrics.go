package loadtest

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
)

// Metrics counts what became of runs, and what the operator did for it. A nil *Metrics
// counts nothing.
type Metrics struct {
	finished, transitions, refusals *prometheus.CounterVec
	panics, writes, bytes           prometheus.Counter
	queue                           prometheus.Gauge
	attempts                        *prometheus.CounterVec
	lost                            prometheus.Counter
}

// outcomes are the values of label outcome.
var outcomes = map[bool]string{true: "Done", false: "Failed"}

// refused is what the API server did not take.
type refused string

const (
	refusedJob      refused = "Job"
	refusedStatus   refused = "Status"
	refusedDeletion refused = "Deletion"
	refusedResults  refused = "Results"
	refusedLoad     refused = "LoadTest"
)

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	m := &Metrics{
		finished:    vector("loadtest_runs_finished_total", "Finished runs by verdict.", "verdict"),
		transitions: vector("loadtest_transitions_total", "Runs that entered a phase.", "to"),
		refusals:    vector("loadtest_refusals_total", "Writes that the API server refused, by what was written: a Job, a LoadTest of a load, a status, the results of a step, a deletion.", "of"),
		panics:      counter("loadtest_panics_total", "Reconcile passes that panicked."),
		writes:      counter("loadtest_status_writes_total", "Statuses written."),
		bytes:       counter("loadtest_status_bytes_total", "Bytes of the LoadTests at each write of their status, as they are stored."),
		queue:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "loadtest_queue_length", Help: "LoadTests that wait for others to end."}),
	}
	m.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "loadtest_results_attempts_total", Help: "Attempts to archive the results of finished runs or to announce their verdicts."}, []string{"of", "outcome"})
	m.lost = counter("loadtest_results_lost_total", "LoadTests that were deleted after their time to live, and the wait after it, without archived results.")
	for _, of := range resultkeeper.Kinds {
		for _, outcome := range outcomes {
			m.attempts.WithLabelValues(string(of), outcome)
		}
	}
	for _, to := range v1beta1.Phases() {
		if to != v1beta1.PhasePending { // no run comes into it
			m.transitions.WithLabelValues(string(to))
		}
	}
	for _, verdict := range v1beta1.Verdicts() {
		m.finished.WithLabelValues(string(verdict))
	}
	for _, of := range []refused{refusedJob, refusedStatus, refusedResults, refusedDeletion, refusedLoad} {
		m.refusals.WithLabelValues(string(of))
	}
	reg.MustRegister(m.finished, m.transitions, m.refusals, m.panics, m.writes, m.bytes, m.queue, m.attempts, m.lost)
	return m
}

// wrote counts a status that has been written for a LoadTest, which has the one before. The LoadTest of a
// load is part of a run, and no run of its own.
func (m *Metrics) wrote(lt *v1beta1.LoadTest, after *v1beta1.LoadTestStatus, size int) {
	if m == nil {
		return
	}
	m.writes.Inc()
	m.bytes.Add(float64(size))
	if isLoad(lt) {
		return
	}
	if lt.Status.Phase != after.Phase {
		m.transitions.WithLabelValues(string(after.Phase)).Inc()
	}
	if lt.Status.Verdict == "" && after.Verdict != "" {
		m.finished.WithLabelValues(string(after.Verdict)).Inc()
	}
}

func (m *Metrics) refused(of refused) {
	if m != nil {
		m.refusals.WithLabelValues(string(of)).Inc()
	}
}

func (m *Metrics) queued(n int) {
	if m != nil {
		m.queue.Set(float64(n))
	}
}

func (m *Metrics) panicked() {
	if m != nil {
		m.panics.Inc()
	}
}

// Tried counts an attempt to keep or to announce what a finished run came to.
func (m *Metrics) Tried(kind resultkeeper.Kind, done bool) {
	if m != nil {
		m.attempts.WithLabelValues(string(kind), outcomes[done]).Inc()
	}
}

func (m *Metrics) lostResults() {
	if m != nil {
		m.lost.Inc()
	}
}
