package decision_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// finishedIn is a LoadTest of two steps, of which the last had these times.
func finishedIn(l v1beta1.Latency) *v1beta1.LoadTest {
	step := func(rung int32, l v1beta1.Latency) v1beta1.StepStatus {
		return v1beta1.StepStatus{Rung: rung, State: v1beta1.StepComplete, WorkersReporting: 1, Result: &v1beta1.StepResult{ResponseTime: &l}}
	}
	lt := &v1beta1.LoadTest{}
	lt.Status.Workers.Desired = 1
	lt.Status.Steps = []v1beta1.StepStatus{step(1, v1beta1.Latency{P99: of(time.Second)}), step(2, l)}
	return lt
}

func of(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func comparedWith(rung int32, value string, lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	lt.Status.Baseline = &v1beta1.BaselineStatus{Steps: []v1beta1.BaselineStep{
		{Rung: rung, Figures: []v1beta1.Figure{{Metric: "p99", Value: value}}},
	}}
	return lt
}

// sideBySide is a LoadTest with loads, of whose requests these are the times.
func sideBySide(course string, l v1beta1.Latency) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.Status.Loads = []v1beta1.LoadStatus{{Name: "readers"}, {Name: "writers"}}
	lt.Status.Together = &v1beta1.LoadResult{ResponseTime: &l}
	lt.Status.Conditions = []metav1.Condition{{Type: "CarriedOut", Status: metav1.ConditionTrue, Reason: course}}
	return lt
}

func TestTrendIsOfTheLastStep(t *testing.T) {
	lost := finishedIn(v1beta1.Latency{P99: of(time.Millisecond)})
	lost.Status.Steps[1].WorkersReporting = 0
	repeated, twice := finishedIn(v1beta1.Latency{P99: of(100 * time.Millisecond)}), finishedIn(v1beta1.Latency{P99: of(300 * time.Millisecond)})
	slowest := finishedIn(v1beta1.Latency{P99: of(time.Minute)})
	repeated.Status.Steps = append(repeated.Status.Steps, twice.Status.Steps[1], slowest.Status.Steps[1])
	repeated = comparedWith(2, "100ms", repeated)
	for _, value := range []string{"600ms", "200ms", "no time"} {
		repeated.Status.Baseline.Steps = append(repeated.Status.Baseline.Steps, v1beta1.BaselineStep{Rung: 2, Figures: []v1beta1.Figure{
			{Metric: "p95", Value: "3600000ms"}, {Metric: "p99", Type: "Read", Value: "3600000ms"}, {Metric: "p99", Request: "create", Value: "3600000ms"}, {Metric: "p99", Value: value},
		}})
	}
	torn := sideBySide("AllStepsRan", v1beta1.Latency{P99: of(time.Millisecond)})
	torn.Status.Loads[0].BeginTime = &metav1.MicroTime{}
	tests := map[string]struct {
		of   *v1beta1.LoadTest
		want string
	}{
		"nothing measured":            {&v1beta1.LoadTest{}, ""},
		"without a baseline":          {finishedIn(v1beta1.Latency{P95: of(time.Millisecond), P99: of(28_511 * time.Microsecond)}), "p99 29ms"},
		"too few samples for p99":     {finishedIn(v1beta1.Latency{P50: of(time.Millisecond), P95: of(4100 * time.Microsecond)}), "p95 4.1ms"},
		"slower than the baseline":    {comparedWith(2, "100ms", finishedIn(v1beta1.Latency{P99: of(113 * time.Millisecond)})), "p99 113ms, +13%"},
		"faster than the baseline":    {comparedWith(2, "200ms", finishedIn(v1beta1.Latency{P99: of(100 * time.Millisecond)})), "p99 100ms, -50%"},
		"the median of repetitions":   {repeated, "p99 300ms, +50%"},
		"a baseline of nothing":       {comparedWith(2, "0ms", finishedIn(v1beta1.Latency{P99: of(100 * time.Millisecond)})), "p99 100ms"},
		"a baseline of another step":  {comparedWith(1, "200ms", finishedIn(v1beta1.Latency{P99: of(100 * time.Millisecond)})), "p99 100ms"},
		"a last step without results": {lost, "p99 1s"},
		"loads side by side":          {sideBySide("AllStepsRan", v1beta1.Latency{P99: of(30 * time.Millisecond)}), "p99 30ms"},
		"loads without responses":     {sideBySide("AllStepsRan", v1beta1.Latency{}), ""},
		"loads of which one is lost":  {torn, ""},
		"loads that were ended":       {sideBySide("Aborted", v1beta1.Latency{P99: of(time.Millisecond)}), ""},
	}
	for name, tt := range tests {
		same.As(t, name+": trend", tt.want, decision.Trend(tt.of))
	}
}
