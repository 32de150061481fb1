package loadtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Each change of a run's phase, of a step and of its workers is one line of the log.
func TestTransitions(t *testing.T) {
	type status = v1beta1.LoadTestStatus
	conditions := func(kindsAndReasons ...string) (list []metav1.Condition) {
		for i := 0; i < len(kindsAndReasons); i += 2 {
			list = append(list, metav1.Condition{Type: kindsAndReasons[i], Reason: kindsAndReasons[i+1]})
		}
		return list
	}
	steps := func(states ...v1beta1.StepState) (list []v1beta1.StepStatus) {
		for i, state := range states {
			list = append(list, v1beta1.StepStatus{Name: string(rune('a' + i)), State: state})
		}
		return list
	}
	for name, tc := range map[string]struct {
		before, after status
		want          []transition
	}{
		"nothing": {status{Phase: v1beta1.PhaseRunning}, status{Phase: v1beta1.PhaseRunning, Summary: v1beta1.Summary{P95: "1ms"}}, nil},
		"taken up": {
			status{Phase: v1beta1.PhasePending}, status{Phase: v1beta1.PhaseStarting, Steps: steps(v1beta1.StepPending)},
			[]transition{{of: "run", from: "Pending", to: "Starting"}},
		},
		"the first step": {
			status{Phase: v1beta1.PhaseStarting, Steps: steps(v1beta1.StepPending), Conditions: conditions("WorkersReady", "Waiting")},
			status{Phase: v1beta1.PhaseRunning, Steps: steps(v1beta1.StepRunning), Conditions: conditions("WorkersReady", "AllReady")},
			[]transition{
				{of: "run", from: "Starting", to: "Running"}, {of: "step", from: "Pending", to: "Running", step: "a"},
				{of: "workers", from: "Waiting", to: "AllReady"},
			},
		},
		"the end": {
			status{Phase: v1beta1.PhaseRunning, Steps: steps(v1beta1.StepRunning, v1beta1.StepPending)},
			status{Phase: v1beta1.PhaseFinished, Steps: steps(v1beta1.StepComplete, v1beta1.StepSkipped), Conditions: conditions("CarriedOut", "StoppedOnBreach")},
			[]transition{
				{of: "run", from: "Running", to: "Finished", reason: "StoppedOnBreach"},
				{of: "step", from: "Running", to: "Complete", step: "a"}, {of: "step", from: "Pending", to: "Skipped", step: "b"},
			},
		},
		"a failure": {
			status{Phase: v1beta1.PhaseStarting}, status{Phase: v1beta1.PhaseFinished, Conditions: conditions("CarriedOut", "CreateRefused")},
			[]transition{{of: "run", from: "Starting", to: "Finished", reason: "CreateRefused"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "transitions", tc.want, transitions(&tc.before, &tc.after), cmp.AllowUnexported(transition{}))
		})
	}
}
