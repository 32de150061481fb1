package metric_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

func TestFiguresWithoutTheGeneratorsDelay(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	result := &v1beta1.StepResult{Due: 200, Unsent: 10, UnsentByGenerator: 8, Excused: 3, ResponseTime: of(40 * time.Millisecond), Goodput: "18"}
	result.Sent, result.Failed = 100, 4
	values := func() map[v1beta1.Metric][2]string {
		all := map[v1beta1.Metric][2]string{}
		for _, f := range metric.Figures(result, nil) {
			all[f.Metric] = [2]string{f.Value, f.WithoutGenerator}
		}
		return all
	}
	if got, want := values()["p95"], ([2]string{"40ms", ""}); got != want {
		t.Errorf("p95 of an old result is %v, want %v", got, want)
	}
	result.WithoutGenerator, result.Undecided = of(15*time.Millisecond), 1
	for name, want := range map[v1beta1.Metric][2]string{
		"p95": {"40ms", "15ms"}, "failureRate": {"4%", "0%"}, "unsentRate": {"5%", "1%"}, "goodput": {"18", ""}, "rateLimitedRate": {"0%", ""},
	} {
		if got := values()[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestFiguresOfATypeWithoutTheGeneratorsDelay(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	read := v1beta1.TypeResult{Name: "Read", PartResult: v1beta1.PartResult{Excused: 3, Undecided: 5, ResponseTime: of(40 * time.Millisecond), WithoutGenerator: of(15 * time.Millisecond)}}
	read.Sent, read.Failed = 100, 10
	write := v1beta1.TypeResult{Name: "Write", PartResult: v1beta1.PartResult{ResponseTime: of(30 * time.Millisecond)}}
	result := &v1beta1.StepResult{Types: []v1beta1.TypeResult{read, write}, Requests: []v1beta1.RequestResult{{Name: "create", PartResult: read.PartResult}}}
	for q, want := range map[metric.Quantity][2]string{
		{Metric: "p95", Type: "Read"}:              {"40ms", "15ms"},
		{Metric: "failureRate", Type: "Read"}:      {"10%", "2%"},
		{Metric: "p95", Type: "Write"}:             {"30ms", "30ms"},
		{Metric: "p95", Request: "create"}:         {"40ms", "15ms"},
		{Metric: "failureRate", Request: "create"}: {"10%", "2%"},
	} {
		measured, ideal := metric.Value(q, result), metric.Ideal(q, result)
		if got := ([2]string{metric.Text(q.Metric, measured), metric.Text(q.Metric, ideal)}); got != want {
			t.Errorf("%s of %s is %v, want %v", q.Metric, q.Type, got, want)
		}
	}
}

// What late requests may have done to one another goes with each time, and with nothing else.
func TestFiguresOfLateRequests(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	result := &v1beta1.StepResult{ResponseTime: of(40 * time.Millisecond), LateTogether: of(3 * time.Millisecond), Goodput: "18"}
	result.Types = []v1beta1.TypeResult{{Name: "Read", PartResult: v1beta1.PartResult{ResponseTime: of(20 * time.Millisecond)}}}
	result.Sent = 100
	got := map[string]string{}
	for _, f := range metric.Figures(result, []metric.Quantity{{Metric: "p95", Type: "Read"}, {Metric: "failureRate", Type: "Read"}}) {
		if f.LateTogether != "" {
			got[string(f.Metric)+f.Type] = f.LateTogether
		}
	}
	if diff := cmp.Diff(map[string]string{"p95": "3ms", "p95Read": "3ms"}, got); diff != "" {
		t.Errorf("late together (-want +got):\n%s", diff)
	}
}
