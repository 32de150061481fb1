package prometheus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/metricstest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func newMetrics(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	m, err := New(registry)
	must.Succeed(t, err)
	return m, registry
}

// Each event has a series of its own from the start, and counts into it.
func TestEveryEventIsCounted(t *testing.T) {
	names := map[shortener.Event]string{
		shortener.LinkCreated: "links_created", shortener.Collision: "collisions", shortener.Redirected: "redirects",
		shortener.RateLimited: "rate_limited", shortener.CacheHit: "cache_hits", shortener.CacheNegativeHit: "cache_negative_hits",
		shortener.CacheMiss: "cache_misses", shortener.CacheFailure: "cache_failures", shortener.ClickQueued: "clicks_queued",
		shortener.ClickStored: "clicks_stored", shortener.ClickDuplicate: "clicks_duplicate", shortener.ClickLost: "clicks_lost",
		shortener.ClickRejected: "clicks_rejected",
	}
	m, registry := newMetrics(t)
	for _, e := range shortener.Events() {
		line := "shortener_" + names[e] + "_total "
		same.As(t, fmt.Sprintf("event %d at the start", e), []string{line + "0"}, metricstest.Lines(t, Handler(registry), line))
		m.Count(e, 1)
		m.Count(e, 41)
		same.As(t, fmt.Sprintf("event %d", e), []string{line + "42"}, metricstest.Lines(t, Handler(registry), line))
	}
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	m, registry := newMetrics(t)
	// A route has a series for each class of status that is ever sent.
	if got, want := len(metricstest.Lines(t, Handler(registry), "shortener_requests_total{")), len(shortener.Routes())*4; got != want {
		t.Errorf("%d series of requests at the start, want %d", got, want)
	}
	m.Observe(shortener.RouteRedirect, 302, 250*time.Microsecond)
	m.Observe(shortener.RouteRedirect, 301, 500*time.Microsecond)
	m.Observe(shortener.RouteRedirect, 404, time.Second)
	m.Observe(shortener.RouteRedirect, 503, 5*time.Second)
	want := []string{
		`shortener_requests_total{code="2xx",route="redirect"} 0`,
		`shortener_requests_total{code="3xx",route="redirect"} 2`,
		`shortener_requests_total{code="4xx",route="redirect"} 1`,
		`shortener_requests_total{code="5xx",route="redirect"} 1`,
	}
	var got []string
	for _, line := range metricstest.Lines(t, Handler(registry), "shortener_requests_total{") {
		if strings.Contains(line, `route="redirect"`) {
			got = append(got, line)
		}
	}
	same.As(t, "requests", want, got)
	for line, value := range map[string]string{
		`shortener_request_duration_seconds_bucket{route="redirect",le="0.0005"} `: "2",
		`shortener_request_duration_seconds_sum{route="redirect"} `:                "6.00075",
		`shortener_request_duration_seconds_count{route="create"} `:                "0",
	} {
		same.As(t, "durations", []string{line + value}, metricstest.Lines(t, Handler(registry), line))
	}
}

func TestLagOfAQueueThatIsDownIsMinusOne(t *testing.T) {
	_, registry := newMetrics(t)
	var failure error
	must.Succeed(t, RegisterLag(registry, func(context.Context) (int64, error) { return 7, failure }))
	same.As(t, "lag", []string{"shortener_clicks_lag 7"}, metricstest.Lines(t, Handler(registry), "shortener_clicks_lag"))
	failure = errors.New("gone")
	same.As(t, "lag of a queue that is down", []string{"shortener_clicks_lag -1"}, metricstest.Lines(t, Handler(registry), "shortener_clicks_lag"))
}

func TestNewRefusesDuplicateRegistration(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := New(registry); err == nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("error = %v, want one that begins with register metrics", err)
	}
	none := func(context.Context) (int64, error) { return 0, nil }
	must.Succeed(t, RegisterLag(registry, none))
	if err := RegisterLag(registry, none); err == nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("error = %v, want one that begins with register metrics", err)
	}
}
