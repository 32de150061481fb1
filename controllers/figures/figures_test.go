package figures_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/figures"
)

func span(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// measured has a value of every metric.
func measured() *v1alpha1.StepResult {
	r := &v1alpha1.StepResult{
		Due: 300, Unsent: 3, Throughput: "29.5", Goodput: "29.0", ItemsPerSecond: "290.0",
		ResponseTime: &v1alpha1.Latency{
			Samples: 297, Mean: span(1234567 * time.Nanosecond), Longest: span(72 * time.Second),
			P50: span(697 * time.Microsecond), P75: span(time.Millisecond), P90: span(41200 * time.Microsecond), P95: span(50 * time.Millisecond),
			P99: span(time.Second), P999: span(1500 * time.Millisecond), P9999: span(2 * time.Second),
		},
		RateLimit: &v1alpha1.RateLimitStatus{OverLimitGrants: 12, FalseDenials: 1},
		Types:     []v1alpha1.TypeResult{{Name: "Read", ResponseTime: &v1alpha1.Latency{P95: span(3 * time.Millisecond)}}},
	}
	r.Sent, r.Failed, r.Outcomes.RateLimited = 297, 1, 99
	r.Types[0].Sent, r.Types[0].Failed = 200, 50
	return r
}

func TestFigures(t *testing.T) {
	byType := []figures.Quantity{
		{Metric: "p95", Type: "Read"}, {Metric: "failureRate", Type: "Read"}, {Metric: "p99", Type: "Read"},
		{Metric: "goodput", Type: "Read"}, {Metric: "p95", Type: "Write"}, {Metric: "unknown"},
	}
	want := []v1alpha1.Figure{
		{Metric: "p50", Value: "0.697ms"}, {Metric: "p75", Value: "1ms"}, {Metric: "p90", Value: "41.2ms"}, {Metric: "p95", Value: "50ms"},
		{Metric: "p99", Value: "1000ms"}, {Metric: "p99.9", Value: "1500ms"}, {Metric: "p99.99", Value: "2000ms"},
		{Metric: "longest", Value: "72000ms"}, {Metric: "mean", Value: "1.235ms"},
		{Metric: "failureRate", Value: "0.3367%"}, {Metric: "rateLimitedRate", Value: "33.333333%"}, {Metric: "unsentRate", Value: "1%"},
		{Metric: "goodput", Value: "29"}, {Metric: "throughput", Value: "29.5"}, {Metric: "itemsPerSecond", Value: "290"},
		{Metric: "overLimitGrants", Value: "12"}, {Metric: "falseDenials", Value: "1"},
		{Metric: "p95", Type: "Read", Value: "3ms"}, {Metric: "failureRate", Type: "Read", Value: "25%"},
	}
	got := figures.Figures(measured(), byType)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	for _, f := range got {
		value, err := figures.Parse(f.Metric, f.Value)
		if err != nil || figures.Text(f.Metric, value) != f.Value {
			t.Errorf("%s of %s is read as %v, %v", f.Value, f.Metric, value, err)
		}
	}
}

// What a result does not have has no value, and is not 0.
func TestFiguresThatAreMissing(t *testing.T) {
	if got := figures.Figures(&v1alpha1.StepResult{}, nil); len(got) > 0 {
		t.Errorf("figures of nothing: %v", got)
	}
	one := &v1alpha1.StepResult{Counts: v1alpha1.Counts{Sent: 1}}
	if v := figures.Value(figures.Quantity{Metric: v1alpha1.MetricFailureRate}, one); v == nil || v.Sign() != 0 {
		t.Errorf("%v of one request failed", v)
	}
	if v, err := figures.Parse("goodput", "0"); err != nil || v.Sign() != 0 {
		t.Errorf("0 is read as %v, %v", v, err)
	}
	r := measured()
	r.RateLimit.Untracked, r.ItemsPerSecond = 1, ""
	if v := figures.Value(figures.Quantity{Metric: v1alpha1.MetricOverLimitGrants}, r); v != nil {
		t.Errorf("%v grants over the limit of an audit that leaves requests out", v)
	}
	if v := figures.Value(figures.Quantity{Metric: v1alpha1.MetricItemsPerSecond}, r); v == nil || v.FloatString(0) != "29" {
		t.Errorf("%v items per second of requests that carry one, want 29", v)
	}
}

func TestValuesThatCannotBeRead(t *testing.T) {
	for metric, text := range map[v1alpha1.Metric]string{"p95": "fast", "failureRate": "", "goodput": "-1", "mean": "1%"} {
		if v, err := figures.Parse(metric, text); err == nil {
			t.Errorf("%q of %s is read as %v", text, metric, v)
		}
	}
}

func decimal(v intstr.IntOrString) *v1alpha1.Decimal { return (*v1alpha1.Decimal)(&v) }

func TestSameLoad(t *testing.T) {
	five, text := decimal(intstr.FromInt32(5)), decimal(intstr.FromString("5"))
	million, ms := decimal(intstr.FromInt32(1_000_000)), decimal(intstr.FromString("1000000"))
	for name, tc := range map[string]struct {
		a, b v1alpha1.StepLoad
		want bool
	}{
		"users":              {v1alpha1.StepLoad{Users: 5}, v1alpha1.StepLoad{Users: 5}, true},
		"other users":        {v1alpha1.StepLoad{Users: 5}, v1alpha1.StepLoad{Users: 6}, false},
		"quotes":             {v1alpha1.StepLoad{Rate: five}, v1alpha1.StepLoad{Rate: text}, true},
		"quotes of a large":  {v1alpha1.StepLoad{Rate: million}, v1alpha1.StepLoad{Rate: ms}, true},
		"a ramp":             {v1alpha1.StepLoad{Rate: five}, v1alpha1.StepLoad{Rate: five, RampTo: million}, false},
		"a duration":         {v1alpha1.StepLoad{Users: 5, Duration: span(time.Second)}, v1alpha1.StepLoad{Users: 5, Duration: span(time.Minute)}, false},
		"the same duration":  {v1alpha1.StepLoad{Users: 5, Duration: span(time.Minute)}, v1alpha1.StepLoad{Users: 5, Duration: span(60 * time.Second)}, true},
		"a warm-up":          {v1alpha1.StepLoad{Users: 5}, v1alpha1.StepLoad{Users: 5, WarmUp: span(time.Second)}, false},
		"the limit of burst": {v1alpha1.StepLoad{RequestsPerUser: 2, MaxDuration: span(time.Second)}, v1alpha1.StepLoad{RequestsPerUser: 2, MaxDuration: span(time.Minute)}, true},
		"arrivals":           {v1alpha1.StepLoad{Rate: five, Arrivals: v1alpha1.ArrivalsEven}, v1alpha1.StepLoad{Rate: five, Arrivals: v1alpha1.ArrivalsPoisson}, false},
	} {
		if got := figures.SameLoad(&tc.a, &tc.b); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

func TestRungs(t *testing.T) {
	step := func(name string, rung, repetition int32, users int32) v1alpha1.StepStatus {
		return v1alpha1.StepStatus{Name: name, Rung: rung, Repetition: repetition, Load: v1alpha1.StepLoad{Users: users}}
	}
	rest := v1alpha1.StepStatus{Name: "rest", Rung: 2, Load: v1alpha1.StepLoad{Pause: span(time.Second)}}
	steps := []v1alpha1.StepStatus{step("10", 1, 1, 10), rest, step("100", 3, 1, 100), rest, step("10 (2)", 1, 2, 10), rest, step("100 (2)", 3, 2, 100)}
	rungs := figures.Rungs(steps)
	if len(rungs) != 2 || rungs[0].Name != "10" || rungs[1].Name != "100" || len(rungs[1].Steps) != 2 || rungs[1].Steps[1].Name != "100 (2)" {
		t.Fatalf("rungs %+v", rungs)
	}
	other := figures.Rung{Number: 7, Name: "100", Load: v1alpha1.StepLoad{Users: 100}}
	if got := figures.Find(rungs, &other); got == nil || got.Number != 3 {
		t.Errorf("found %+v", got)
	}
	other.Load.Users = 99
	if got := figures.Find(rungs, &other); got != nil {
		t.Errorf("found %+v, of another load", got)
	}
	other = figures.Rung{Name: "a hundred", Load: v1alpha1.StepLoad{Users: 100}}
	if got := figures.Find(rungs, &other); got != nil {
		t.Errorf("found %+v, of another name", got)
	}
}
