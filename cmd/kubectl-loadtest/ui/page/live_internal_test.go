package page

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// The rates of a step are not shown as those of the pause that follows it, nor while the run is held after it.
func TestRatesAreOfTheStepThatRuns(t *testing.T) {
	for _, tc := range []struct {
		phase   v1beta1.Phase
		current int32
		want    int
	}{{v1beta1.PhaseRunning, 0, 5}, {v1beta1.PhaseRunning, 1, 0}, {v1beta1.PhaseSuspended, 0, 0}} {
		lt := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Phase: tc.phase, CurrentStep: tc.current, Steps: make([]v1beta1.StepStatus, 2)}}
		if got := figuresOf(&Shown{Test: lt, Course: []runs.Moment{{Step: 0, Due: 500}}}); len(got) != tc.want {
			t.Errorf("%s, step %d: %v, want %d figures", tc.phase, tc.current, got, tc.want)
		}
	}
}

func TestFirstEventOfTheStepThatRunsIsShown(t *testing.T) {
	step := v1beta1.StepStatus{State: v1beta1.StepRunning, Result: &v1beta1.StepResult{}}
	lt := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning, Steps: []v1beta1.StepStatus{step}}}
	for _, tc := range []struct {
		streams *v1beta1.StreamsResult
		want    string
	}{
		{nil, ""},
		{&v1beta1.StreamsResult{FirstEvent: &v1beta1.EventTimes{Samples: 3}}, ""},
		{&v1beta1.StreamsResult{FirstEvent: &v1beta1.EventTimes{Samples: 30, P95: &metav1.Duration{Duration: 413 * time.Millisecond}}}, "413ms"},
	} {
		step.Result.Streams = tc.streams
		got := ""
		for _, f := range figuresOf(&Shown{Test: lt}) {
			if f.Name == "First event, p95" {
				got = f.Value
			}
		}
		if got != tc.want {
			t.Errorf("of %+v the first event is %q, want %q", tc.streams, got, tc.want)
		}
	}
}
