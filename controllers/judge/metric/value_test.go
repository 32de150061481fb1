package metric_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func span(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// measured has a value of every metric.
func measured() *v1beta1.StepResult {
	r := &v1beta1.StepResult{
		Due: 300, Unsent: 3, Throughput: "29.5", Goodput: "29.0", ItemsPerSecond: "290.0",
		ResponseTime: &v1beta1.Latency{
			Samples: 297, Mean: span(1234567 * time.Nanosecond), Longest: span(72 * time.Second),
			P50: span(697 * time.Microsecond), P75: span(time.Millisecond), P90: span(41200 * time.Microsecond), P95: span(50 * time.Millisecond),
			P99: span(time.Second), P999: span(1500 * time.Millisecond), P9999: span(2 * time.Second),
		},
		RateLimit: &v1beta1.RateLimitStatus{OverLimitGrants: 12, FalseDenials: 1},
		Types:     []v1beta1.TypeResult{{Name: "Read", PartResult: v1beta1.PartResult{ResponseTime: &v1beta1.Latency{P95: span(3 * time.Millisecond)}}}},
	}
	r.Sent, r.Failed, r.Outcomes.RateLimited = 297, 1, 99
	r.Types[0].Sent, r.Types[0].Failed = 200, 50
	r.Requests = []v1beta1.RequestResult{{Name: "Read", PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: 10, Failed: 1}}}}
	return r
}

func TestFigures(t *testing.T) {
	byType := []metric.Quantity{
		{Metric: "p95", Type: "Read"}, {Metric: "failureRate", Type: "Read"}, {Metric: "p99", Type: "Read"},
		{Metric: "goodput", Type: "Read"}, {Metric: "p95", Type: "Write"}, {Metric: "unknown"},
		{Metric: "failureRate", Request: "Read"}, {Metric: "p95", Request: "Read"}, {Metric: "failureRate", Request: "Write"},
	}
	want := []v1beta1.Figure{
		{Metric: "p50", Value: "0.697ms", WithUntimed: "1ms"}, {Metric: "p75", Value: "1ms", WithUntimed: "41.2ms"},
		{Metric: "p90", Value: "41.2ms", WithUntimed: "50ms"}, {Metric: "p95", Value: "50ms", WithUntimed: "1000ms"},
		{Metric: "p99", Value: "1000ms", WithUntimed: "1500ms"}, // 3 of 300 have no time, which may be that of any higher percentile
		{Metric: "longest", Value: "72000ms"}, {Metric: "mean", Value: "1.235ms"},
		{Metric: "failureRate", Value: "0.3367%"}, {Metric: "rateLimitedRate", Value: "33.333333%"}, {Metric: "unsentRate", Value: "1%"},
		{Metric: "goodput", Value: "29"}, {Metric: "throughput", Value: "29.5"}, {Metric: "itemsPerSecond", Value: "290"},
		{Metric: "overLimitGrants", Value: "12"}, {Metric: "falseDenials", Value: "1"},
		{Metric: "p95", Type: "Read", Value: "3ms"}, {Metric: "failureRate", Type: "Read", Value: "25%"},
		{Metric: "failureRate", Request: "Read", Value: "10%"},
	}
	got := metric.Figures(measured(), byType)
	same.As(t, "figures", want, got)
	for _, f := range got {
		value, err := metric.Parse(f.Metric, f.Value)
		if err != nil || metric.Text(f.Metric, value) != f.Value {
			t.Errorf("%s of %s is read as %v, %v", f.Value, f.Metric, value, err)
		}
	}
}

// What a result does not have has no value, and is not 0.
func TestFiguresThatAreMissing(t *testing.T) {
	if got := metric.Figures(&v1beta1.StepResult{}, nil); len(got) > 0 {
		t.Errorf("figures of nothing: %v", got)
	}
	one := &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 1}}
	if v := metric.Value(metric.Quantity{Metric: v1beta1.MetricFailureRate}, one); v == nil || v.Sign() != 0 {
		t.Errorf("%v of one request failed", v)
	}
	if v, err := metric.Parse("goodput", "0"); err != nil || v.Sign() != 0 {
		t.Errorf("0 is read as %v, %v", v, err)
	}
	r := measured()
	r.RateLimit.Untracked, r.ItemsPerSecond = 1, ""
	if v := metric.Value(metric.Quantity{Metric: v1beta1.MetricOverLimitGrants}, r); v != nil {
		t.Errorf("%v grants over the limit of an audit that leaves requests out", v)
	}
	if v := metric.Value(metric.Quantity{Metric: v1beta1.MetricItemsPerSecond}, r); v == nil || v.FloatString(0) != "29" {
		t.Errorf("%v items per second of requests that carry one, want 29", v)
	}
}

func TestValuesThatCannotBeRead(t *testing.T) {
	for name, text := range map[v1beta1.Metric]string{"p95": "fast", "failureRate": "", "goodput": "-1", "mean": "1%"} {
		if v, err := metric.Parse(name, text); err == nil {
			t.Errorf("%q of %s is read as %v", text, name, v)
		}
	}
}
