package fault

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// running is the status of a run of which a step began that long ago.
func running(step int, spec v1alpha1.LoadTestSpec, since time.Duration) *v1alpha1.LoadTestStatus {
	s := &v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseRunning, CurrentStep: int32(step), Steps: plan.Steps(&spec)}
	start := metav1.NewMicroTime(now.Add(-since))
	s.Steps[step].State, s.Steps[step].StartTime = v1alpha1.StepRunning, &start
	return s
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func counted(due, sent, completed int64) v1alpha1.StepStatus {
	return v1alpha1.StepStatus{Result: &v1alpha1.StepResult{Due: due, Counts: v1alpha1.Counts{Sent: sent, Completed: completed}}}
}

func undecided(metric v1alpha1.Metric, state v1alpha1.ThresholdState, reason string) v1alpha1.LoadTestStatus {
	return v1alpha1.LoadTestStatus{Thresholds: []v1alpha1.ThresholdStatus{{Metric: metric, State: state, Reason: reason}, {State: v1alpha1.ThresholdPassed}}}
}

// downFor is the status of a run whose second step, of 4 s, breaches a threshold on downtime.
func downFor(share string) v1alpha1.LoadTestStatus {
	s := undecided(v1alpha1.MetricDowntime, v1alpha1.ThresholdFailed, v1alpha1.ReasonTargetDown)
	s.Thresholds[0].Step, s.Thresholds[0].Observed = "b", share
	s.Steps = []v1alpha1.StepStatus{
		{Name: "a", Window: &metav1.Duration{Duration: time.Second}}, {Name: "b", Window: &metav1.Duration{Duration: 4 * time.Second}},
	}
	return s
}

func TestRead(t *testing.T) {
	finished := condition(v1alpha1.ConditionFinished, metav1.ConditionTrue, "Inconclusive", "")
	tests := map[string]struct {
		status v1alpha1.LoadTestStatus
		want   Outcome
	}{
		"not begun": {},
		"a step and a pause": {
			v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{counted(10, 9, 8), {}, counted(3, 2, 1)}},
			Outcome{Due: 13, Sent: 11, Completed: 9},
		},
		"missing in two steps": {
			v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{MissingAtMost: n(3)}, {}, {MissingAtMost: n(0)}, {MissingAtMost: n(4)}}},
			Outcome{Missing: n(7)},
		},
		"a verdict before the end is none": {v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictPassed}, Outcome{}},
		"finished": {
			v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionUnknown, "Inconclusive", "It is unknown."),
				condition(v1alpha1.ConditionWorkersReady, metav1.ConditionFalse, "WorkerLost", "1 of 3 workers was lost."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "WorkerLost: 1 of 3 workers was lost."},
		},
		"late, and not limited": {
			v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1alpha1.ConditionGeneratorHealthy, metav1.ConditionFalse, "NodeBusy", "It waited."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "NodeBusy: It waited."},
		},
		"late, and not judged": {
			v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1alpha1.ConditionGeneratorHealthy, metav1.ConditionFalse, "NodeBusy", "It waited."),
				condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionUnknown, "LoadDisplaced", "It waited."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "LoadDisplaced: It waited."},
		},
		"limited by a load that was displaced": {
			v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{LoadDisplaced: true}}}, counted(1, 1, 1)}},
			Outcome{Due: 1, Sent: 1, Completed: 1, Limited: true, Displaced: true},
		},
		"the step in which workers were throttled most": {
			v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{
				{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{CPUThrottled: "0.34%"}}},
				{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{CPUThrottled: "9.9%"}}},
				{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{}}},
			}},
			Outcome{Throttled: 9.9},
		},
		"a load that was not displaced": {
			v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{Reason: "NodeBusy"}}}}},
			Outcome{},
		},
		"limited by the generator's delay": {undecided(v1alpha1.Metric("p95"), v1alpha1.ThresholdInconclusive, v1alpha1.ReasonGeneratorUncertain), Outcome{Limited: true}},
		"limited by a doubt on downtime":   {undecided(v1alpha1.MetricDowntime, v1alpha1.ThresholdInconclusive, ""), Outcome{Limited: true}},
		"undecided for another reason":     {undecided(v1alpha1.Metric("p95"), v1alpha1.ThresholdInconclusive, ""), Outcome{}},
		"down":                             {downFor("6.5%"), Outcome{Down: 260 * time.Millisecond}},
		"down, for nobody knows how long":  {downFor(""), Outcome{}},
		"failed": {
			v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictError, Conditions: []metav1.Condition{finished,
				condition(v1alpha1.ConditionWorkersReady, metav1.ConditionFalse, "CreateRefused", "A quota."),
				condition(v1alpha1.ConditionCarriedOut, metav1.ConditionFalse, "StartDeadlineExceeded", "A quota, too."),
			}},
			Outcome{Verdict: Error, Reason: "StartDeadlineExceeded: A quota, too."},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "outcome", tt.want, Read(&tt.status))
		})
	}
}

func TestAt(t *testing.T) {
	spec := Load{Workers: 1, Steps: []Step{users(2 * time.Second), {Length: second}}}.Spec("run", "counter")
	cut := running(0, spec, time.Second)
	stop := metav1.NewMicroTime(now)
	cut.StopTime = &stop
	tests := map[string]struct {
		status *v1alpha1.LoadTestStatus
		want   string
	}{
		"not seen yet":    {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhasePending}, "pending"},
		"starting":        {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseStarting}, "starting"},
		"held":            {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseSuspended, CurrentStep: 1, Steps: plan.Steps(&spec)}, "suspended"},
		"the gate":        {running(0, spec, -300*time.Millisecond), "step 1, in 0.3s"},
		"a step":          {running(0, spec, time.Second), "step 1, 1.0s of 2s"},
		"the drain":       {running(0, spec, 2500*time.Millisecond), "step 1, 2.5s of 2s"},
		"a pause":         {running(1, spec, time.Second), "pause, 1.0s of 8s"},
		"cut":             {cut, "step 1, cut, 1.0s of 2s"},
		"between steps":   {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseRunning, CurrentStep: 1, Steps: plan.Steps(&spec)}, "pause"},
		"after all steps": {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseRunning, CurrentStep: 2, Steps: plan.Steps(&spec)}, "running"},
		"finished": {&v1alpha1.LoadTestStatus{Phase: v1alpha1.PhaseFinished,
			Conditions: []metav1.Condition{condition(v1alpha1.ConditionFinished, metav1.ConditionTrue, "Passed", "")}}, "finished"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := At(tt.status, now); got != tt.want {
				t.Errorf("at %q, want %q", got, tt.want)
			}
		})
	}
}
