package prometheus

import (
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/metricstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func newMetrics(t *testing.T) (*Metrics, *prom.Registry) {
	t.Helper()
	registry := prom.NewRegistry()
	m, err := New(registry, func() int { return 7 })
	must.Succeed(t, err)
	return m, registry
}

func TestEverySeriesStartsAtZero(t *testing.T) {
	_, registry := newMetrics(t)
	if got, want := len(metricstest.Lines(t, Handler(registry), "eventstore_requests_total{")), 8*6; got != want {
		t.Errorf("%d series of requests, want %d: 8 operations with 6 outcomes", got, want)
	}
	for _, want := range []string{
		`eventstore_requests_total{operation="append",outcome="replayed"} 0`,
		`eventstore_requests_total{operation="stream",outcome="aborted"} 0`,
		`eventstore_request_duration_seconds_count{operation="append-batch"} 0`,
		"eventstore_events_appended_total 0",
		"eventstore_events_read_total 0",
		`eventstore_commits_total{outcome="committed"} 0`,
		`eventstore_commits_total{outcome="failed"} 0`,
		"eventstore_commit_requests_count 0",
		"eventstore_commit_events_count 0",
		"eventstore_commit_duration_seconds_count 0",
		"eventstore_waiting_requests 7",
	} {
		same.As(t, "series", []string{want}, metricstest.Lines(t, Handler(registry), want))
	}
}

func TestRequestsAreCountedByOutcome(t *testing.T) {
	m, registry := newMetrics(t)
	for _, o := range []eventstore.Observation{
		{Operation: eventstore.AppendEvent, Outcome: eventstore.Done, Took: 250 * time.Millisecond},
		{Operation: eventstore.AppendEvent, Outcome: eventstore.Done, Took: 500 * time.Millisecond},
		{Operation: eventstore.AppendEvent, Outcome: eventstore.Limited},
		{Operation: eventstore.ReadRange, Outcome: eventstore.Done, Read: 100, Took: time.Second},
		{Operation: eventstore.ReadStream, Outcome: eventstore.Aborted, Read: 20, Took: 2 * time.Second},
	} {
		m.Request(o)
	}
	want := []string{
		`eventstore_requests_total{operation="append",outcome="done"} 2`,
		`eventstore_requests_total{operation="append",outcome="limited"} 1`,
		`eventstore_requests_total{operation="read",outcome="done"} 1`,
		`eventstore_requests_total{operation="stream",outcome="aborted"} 1`,
	}
	same.As(t, "requests", want, metricstest.Counted(t, Handler(registry), "eventstore_requests_total{"))
	want = []string{
		`eventstore_request_duration_seconds_sum{operation="append"} 0.75`,
		`eventstore_request_duration_seconds_sum{operation="read"} 1`,
		`eventstore_request_duration_seconds_sum{operation="stream"} 2`,
	}
	same.As(t, "durations", want, metricstest.Counted(t, Handler(registry), "eventstore_request_duration_seconds_sum"))
	same.As(t, "events read", []string{"eventstore_events_read_total 120"}, metricstest.Counted(t, Handler(registry), "eventstore_events_read"))
}

func TestCommitsAreCountedWithTheirEvents(t *testing.T) {
	m, registry := newMetrics(t)
	m.Commit(eventstore.Commit{Requests: 3, Events: 1002, Took: 250 * time.Millisecond})
	m.Commit(eventstore.Commit{Requests: 1, Events: 1, Took: 250 * time.Millisecond})
	m.Commit(eventstore.Commit{Requests: 9, Events: 0, Took: time.Second, Failed: true})
	for prefix, want := range map[string][]string{
		"eventstore_events_appended_total":       {"eventstore_events_appended_total 1003"},
		"eventstore_commits_total":               {`eventstore_commits_total{outcome="committed"} 2`, `eventstore_commits_total{outcome="failed"} 1`},
		"eventstore_commit_requests_sum":         {"eventstore_commit_requests_sum 4"},
		"eventstore_commit_events_sum":           {"eventstore_commit_events_sum 1003"},
		"eventstore_commit_duration_seconds_sum": {"eventstore_commit_duration_seconds_sum 1.5"},
		`eventstore_commit_events_bucket{le="1"`: {`eventstore_commit_events_bucket{le="1"} 1`},
	} {
		same.As(t, prefix, want, metricstest.Counted(t, Handler(registry), prefix))
	}
}

func TestNewRefusesDuplicateRegistration(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := New(registry, nil); err == nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("error = %v, want one that begins with register metrics", err)
	}
}
