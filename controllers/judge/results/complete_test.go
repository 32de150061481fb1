package results_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// of is a step with a result, in which so many workers' measurements are.
func of(state v1beta1.StepState, reporting int32) v1beta1.StepStatus {
	return v1beta1.StepStatus{State: state, WorkersReporting: reporting, Result: &v1beta1.StepResult{}}
}

func TestCompleteSteps(t *testing.T) {
	full, part := of(v1beta1.StepComplete, 3), of(v1beta1.StepComplete, 2)
	changed := of(v1beta1.StepComplete, 3)
	changed.Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{}, {Spoils: v1beta1.SpoiledStep}}}
	running, cut := of(v1beta1.StepRunning, 3), of(v1beta1.StepCut, 3)
	pause := v1beta1.StepStatus{State: v1beta1.StepComplete}
	pending, skipped := v1beta1.StepStatus{State: v1beta1.StepPending}, v1beta1.StepStatus{State: v1beta1.StepSkipped}
	tests := map[string]struct {
		lost  int32
		steps []v1beta1.StepStatus
		want  []bool
	}{
		"nothing":                                 {steps: nil, want: nil},
		"nothing has begun":                       {lost: 1, steps: []v1beta1.StepStatus{pending}, want: []bool{false}},
		"all":                                     {steps: []v1beta1.StepStatus{full, pause, full}, want: []bool{true, false, true}},
		"one that runs":                           {steps: []v1beta1.StepStatus{full, running, pending}, want: []bool{true, false, false}},
		"one that was cut":                        {steps: []v1beta1.StepStatus{full, cut, skipped}, want: []bool{true, false, false}},
		"the target was changed in one":           {steps: []v1beta1.StepStatus{changed, full}, want: []bool{false, true}},
		"a report is missing":                     {steps: []v1beta1.StepStatus{part, full}, want: []bool{false, true}},
		"a worker lost in the last":               {lost: 1, steps: []v1beta1.StepStatus{full, pause, full}, want: []bool{true, false, false}},
		"a worker lost in one before":             {lost: 1, steps: []v1beta1.StepStatus{full, full, skipped, skipped}, want: []bool{true, false, false, false}},
		"a worker lost in a pause":                {lost: 1, steps: []v1beta1.StepStatus{full, pause, skipped}, want: []bool{true, false, false}},
		"a worker lost before what has not begun": {lost: 1, steps: []v1beta1.StepStatus{full, full, pending}, want: []bool{true, false, false}},
		"no worker lost, and one has not begun":   {steps: []v1beta1.StepStatus{full, full, pending}, want: []bool{true, true, false}},
		"a worker lost in one that is cut":        {lost: 2, steps: []v1beta1.StepStatus{full, cut, skipped}, want: []bool{true, false, false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := &v1beta1.LoadTestStatus{Steps: tc.steps, Workers: v1beta1.WorkerCounts{Desired: 3, Lost: tc.lost}}
			before := status.DeepCopy()
			var got []bool
			for _, s := range results.CompleteSteps(status) {
				got = append(got, s.Result != nil)
			}
			same.As(t, "which have a result", tc.want, got)
			same.As(t, "CompleteSteps changed its argument", before, status)
		})
	}
}
