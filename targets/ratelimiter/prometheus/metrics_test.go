package prometheus

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// scrape returns the lines of the page of metrics that begin with a prefix.
func scrape(t *testing.T, registry *prom.Registry, prefix string) []string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(registry).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var lines []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

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
	same.As(t, "series", want, scrape(t, registry, "ratelimiter_requests_total"))
}

func TestObserve(t *testing.T) {
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
	same.As(t, "requests", want, scrape(t, registry, "ratelimiter_requests_total"))
	want = []string{
		`ratelimiter_request_duration_seconds_sum{decision="denied",strategy="hash"} 11`,
		`ratelimiter_request_duration_seconds_sum{decision="error",strategy="hash"} 5`,
		`ratelimiter_request_duration_seconds_sum{decision="granted",strategy="hash"} 0.25075`,
		`ratelimiter_request_duration_seconds_sum{decision="unchecked",strategy="hash"} 3`,
	}
	same.As(t, "durations", want, scrape(t, registry, "ratelimiter_request_duration_seconds_sum"))
	bucket := scrape(t, registry, `ratelimiter_request_duration_seconds_bucket{decision="granted",strategy="hash",le="0.0005"}`)
	if want := []string{`ratelimiter_request_duration_seconds_bucket{decision="granted",strategy="hash",le="0.0005"} 2`}; cmp.Diff(want, bucket) != "" {
		t.Errorf("bucket = %v, want %v", bucket, want)
	}
}

func TestNewRefusesDuplicateRegistration(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := New(registry, ratelimiter.Lua); err == nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("error = %v, want one that begins with register metrics", err)
	}
}
