package loadtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

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

// What LoadTests with loads, and these, read of each other leads to a pass; what changes each second does not.
func TestMilestonesOfLoads(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: status}}
	}
	for name, c := range map[string]struct {
		change func(*v1beta1.LoadTest)
		want   bool
	}{
		"nothing":          {func(*v1beta1.LoadTest) {}, false},
		"its progress":     {func(lt *v1beta1.LoadTest) { lt.Status.Summary.Step = "100" }, false},
		"its phase":        {func(lt *v1beta1.LoadTest) { lt.Status.Phase = v1beta1.PhaseRunning }, true},
		"it is held":       {func(lt *v1beta1.LoadTest) { lt.Spec.Suspend = true }, true},
		"its deletion":     {func(lt *v1beta1.LoadTest) { lt.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, true},
		"another deadline": {func(lt *v1beta1.LoadTest) { lt.Spec.StartDeadlineSeconds = ptr.To[int64](1) }, true},
		"its loads end":    {func(lt *v1beta1.LoadTest) { lt.Status.Internal.StopTime = &metav1.MicroTime{} }, true},
		"an instant":       {func(lt *v1beta1.LoadTest) { lt.Status.Loads[0].BeginTime = &metav1.MicroTime{} }, true},
		"its end": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = condition(v1beta1.ConditionFinished, metav1.ConditionTrue)
		}, true},
		"its workers": {func(lt *v1beta1.LoadTest) { lt.Status.Workers.Ready = 1 }, true},
		"why its workers do not come": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions[0].Status, lt.Status.Conditions[0].Reason = metav1.ConditionFalse, v1beta1.ReasonImagePull
		}, true},
		"how many of its workers have come": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions[0].Status, lt.Status.Conditions[0].Reason, lt.Status.Conditions[0].Message = metav1.ConditionFalse, v1beta1.ReasonWaiting, "1 of 2"
		}, false},
		"that it is held": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionSuspended, metav1.ConditionTrue)...)
		}, true},
		"its results are archived": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionArchived, metav1.ConditionTrue)...)
		}, true},
		"its results cannot be": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionArchived, metav1.ConditionFalse)...)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Loads: make([]v1beta1.LoadStatus, 1), Conditions: condition(v1beta1.ConditionWorkersReady, metav1.ConditionTrue)}}
			before.Status.Workers.Desired = 1
			after := before.DeepCopy()
			c.change(after)
			same.As(t, "a pass", c.want, milestones.UpdateFunc(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		})
	}
}
