package prometheus

import (
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/metricstest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func newMetrics(t *testing.T) (*Metrics, *prom.Registry) {
	t.Helper()
	registry := prom.NewRegistry()
	m, err := New(registry, ratelimiter.Hash)
	must.Succeed(t, err)
	return m, registry
}

func TestEverySeriesStartsAtZero(t *testing.T) {
	_, registry := newMetrics(t)
	want := []string{
		`ratelimiter_requests_total{decision="denied",strategy="hash"} 0`,
		`ratelimiter_requests_total{decision="error",strategy="hash"} 0`,
		`ratelimiter_requests_total{decision="granted",strategy="hash"} 0`,
		`ratelimiter_requests_total{decision="unchecked",strategy="hash"} 0`,
	}
	same.As(t, "series", want, metricstest.Lines(t, Handler(registry), "ratelimiter_requests_total"))
}

func TestRequestsAreCountedByDecision(t *testing.T) {
	m, registry := newMetrics(t)
	for outcome, took := range map[ratelimiter.Outcome][]time.Duration{
		ratelimiter.Granted:   {250 * time.Microsecond, 500 * time.Microsecond, 250 * time.Millisecond},
		ratelimiter.Denied:    {time.Second, 10 * time.Second},
		ratelimiter.Unchecked: {time.Second, 2 * time.Second},
		ratelimiter.Failed:    {5 * time.Second},
	} {
		for _, d := range took {
			m.Observe(outcome, d)
		}
	}
	want := []string{
		`ratelimiter_requests_total{decision="denied",strategy="hash"} 2`,
		`ratelimiter_requests_total{decision="error",strategy="hash"} 1`,
		`ratelimiter_requests_total{decision="granted",strategy="hash"} 3`,
		`ratelimiter_requests_total{decision="unchecked",strategy="hash"} 2`,
	}
	same.As(t, "requests", want, metricstest.Lines(t, Handler(registry), "ratelimiter_requests_total"))
	want = []string{
		`ratelimiter_request_duration_seconds_sum{decision="denied",strategy="hash"} 11`,
		`ratelimiter_request_duration_seconds_sum{decision="error",strategy="hash"} 5`,
		`ratelimiter_request_duration_seconds_sum{decision="granted",strategy="hash"} 0.25075`,
		`ratelimiter_request_duration_seconds_sum{decision="unchecked",strategy="hash"} 3`,
	}
	same.As(t, "durations", want, metricstest.Lines(t, Handler(registry), "ratelimiter_request_duration_seconds_sum"))
	const bucket = `ratelimiter_request_duration_seconds_bucket{decision="granted",strategy="hash",le="0.0005"}`
	same.As(t, "bucket", []string{bucket + " 2"}, metricstest.Lines(t, Handler(registry), bucket))
}

func TestNewRefusesDuplicateRegistration(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := New(registry, ratelimiter.Lua); err == nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("error = %v, want one that begins with register metrics", err)
	}
}
