package baseline_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// leveled is the ladder with bounds on p95 and on the failure rate.
func leveled() *v1beta1.LoadTestSpec {
	spec := ladder()
	spec.Repetitions = 1
	spec.Thresholds = []v1beta1.Threshold{{Metric: "p95", MaxIncrease: "10%"}, {Metric: "failureRate", MaxIncrease: "10%"}, {Metric: "p99", Max: nil}}
	return spec
}

// nights are runs that passed, whose p95 in the first rung are these times in ms.
func nights(spec *v1beta1.LoadTestSpec, change func(i int, lt *v1beta1.LoadTest), millis ...int) *baseline.Level {
	level := &baseline.Level{Schedule: "nightly"}
	for i, ms := range millis {
		lt := before()
		lt.Spec = *leveled()
		lt.Status.Steps = plan.Steps(&lt.Spec)
		for k := range lt.Status.Steps {
			step := &lt.Status.Steps[k]
			step.State, step.WorkersReporting = v1beta1.StepComplete, 1
			if !step.Load.IsPause() {
				step.Result = &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 100, Expected: 100, Completed: 100}, ResponseTime: &v1beta1.Latency{
					P95: &metav1.Duration{Duration: time.Duration(ms) * time.Millisecond},
				}}
			}
		}
		lt.Name, lt.UID, lt.Status.CompletionTime = fmt.Sprintf("n-%d", i+1), types.UID(fmt.Sprint(i+1)), &metav1.Time{Time: time.Unix(int64(i), 0)}
		if change != nil {
			change(i, lt)
		}
		level.Runs = append(level.Runs, baseline.Read(spec, lt))
	}
	return level
}

// Each metric has a level of its own: p95 changed, and failureRate, which was 0, has all runs.
func TestLevelThatIsCopied(t *testing.T) {
	spec := leveled()
	spec.Ladder.Users = []int32{10}
	got, refusal := baseline.CopyLevel(spec, plan.Steps(spec), nights(spec, nil, 20, 20, 20, 40, 40, 41))
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := &v1beta1.BaselineStatus{Name: "n-6", UID: "6", Schedule: "nightly", Verdict: v1beta1.VerdictPassed, CompletionTime: &metav1.Time{Time: time.Unix(5, 0)}}
	zero := v1beta1.Figure{Metric: "failureRate", Value: "0%"}
	for i, p95 := range []string{"", "", "", "40ms", "40ms", "41ms"} {
		step := v1beta1.BaselineStep{Name: "10", Rung: 1, Run: fmt.Sprintf("n-%d", i+1), Sent: 100}
		if p95 != "" {
			step.Figures = append(step.Figures, v1beta1.Figure{Metric: "p95", Value: p95})
		}
		step.Figures = append(step.Figures, zero)
		want.Steps = append(want.Steps, step)
	}
	same.As(t, "copied", want, got)
}

func TestRunsThatAreNoLevel(t *testing.T) {
	spec := leveled()
	needs := "spec.baseline.schedule: a level needs 3 LoadTests of schedule nightly that passed, sent the traffic of this run, and measured what it compares in a step that it has, too; "
	for name, tc := range map[string]struct {
		level *baseline.Level
		want  string
	}{
		"none":    {&baseline.Level{Schedule: "nightly"}, needs + "0 LoadTests passed, and 0 of them sent that traffic; let it keep more (spec.successfulRunsHistoryLimit), or compare with one LoadTest (spec.baseline.name)."},
		"two":     {nights(spec, nil, 20, 20), needs + "2 LoadTests passed, and 2 of them sent that traffic; let it keep more (spec.successfulRunsHistoryLimit), or compare with one LoadTest (spec.baseline.name)."},
		"another": {nights(spec, func(i int, lt *v1beta1.LoadTest) { lt.Spec.Requests[0].Name = "old" }, 20, 20, 20, 20), needs + "4 LoadTests passed, and 0 of them sent that traffic. LoadTest n-4 sends different requests, or the same ones in different proportions: request 1 is create here, old there; name one whose requests have the same names, types and weights."},
		"the load of two is another": {nights(spec, func(i int, lt *v1beta1.LoadTest) {
			for k := range lt.Status.Steps {
				if i > 0 {
					lt.Status.Steps[k].Result = nil
				}
			}
		}, 20, 20, 20), needs + "3 LoadTests passed, and 3 of them sent that traffic; let it keep more (spec.successfulRunsHistoryLimit), or compare with one LoadTest (spec.baseline.name)."},
	} {
		_, refusal := baseline.CopyLevel(spec, plan.Steps(spec), tc.level)
		if refusal == nil || refusal.Reason != v1beta1.ReasonBaselineRefused || refusal.Message != tc.want {
			t.Errorf("%s: %v\nwant %s", name, refusal, tc.want)
		}
	}
}

// However many runs and rungs there are, the status has at most 1024 steps of them, the newest.
func TestLevelIsBounded(t *testing.T) {
	spec := leveled()
	spec.Ladder.Users = nil
	for i := range 60 {
		spec.Ladder.Users = append(spec.Ladder.Users, int32(i+1))
	}
	steps := plan.Steps(spec)
	level := nights(spec, func(_ int, lt *v1beta1.LoadTest) {
		result := lt.Status.Steps[0].Result
		lt.Status.Steps = plan.Steps(spec)
		for i := range lt.Status.Steps {
			lt.Status.Steps[i].State, lt.Status.Steps[i].WorkersReporting = v1beta1.StepComplete, 1
			if !lt.Status.Steps[i].Load.IsPause() {
				lt.Status.Steps[i].Result = result
			}
		}
	}, make20(60)...)
	got, refusal := baseline.CopyLevel(spec, steps, level)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if n := len(got.Steps); n > 1024 || n < 1000 || got.Steps[n-1].Run != "n-60" {
		t.Errorf("%d steps, the last of %s", n, got.Steps[n-1].Run)
	}
}

func make20(n int) (list []int) {
	for range n {
		list = append(list, 20)
	}
	return list
}
