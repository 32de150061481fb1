package fault

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// running is the status of a run of which a step began that long ago.
func running(step int, spec v1beta1.LoadTestSpec, since time.Duration) *v1beta1.LoadTestStatus {
	s := &v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning, CurrentStep: int32(step), Steps: plan.Steps(&spec)}
	start := metav1.NewMicroTime(now.Add(-since))
	s.Steps[step].State, s.Steps[step].StartTime = v1beta1.StepRunning, &start
	return s
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func counted(due, sent, completed int64) v1beta1.StepStatus {
	return v1beta1.StepStatus{Result: &v1beta1.StepResult{Due: due, Counts: v1beta1.Counts{Sent: sent, Completed: completed}}}
}

func undecided(metric v1beta1.Metric, state v1beta1.ThresholdState, reason string) v1beta1.LoadTestStatus {
	return v1beta1.LoadTestStatus{Thresholds: []v1beta1.ThresholdStatus{{Metric: metric, State: state, Reason: reason}, {State: v1beta1.ThresholdPassed}}}
}

// downFor is the status of a run whose second step, of 4 s, breaches a threshold on downtime.
func downFor(share string) v1beta1.LoadTestStatus {
	s := undecided(v1beta1.MetricDowntime, v1beta1.ThresholdFailed, v1beta1.ReasonTargetDown)
	s.Thresholds[0].Step, s.Thresholds[0].Observed = "b", share
	s.Steps = []v1beta1.StepStatus{
		{Name: "a", Window: &metav1.Duration{Duration: time.Second}}, {Name: "b", Window: &metav1.Duration{Duration: 4 * time.Second}},
	}
	return s
}

func TestRead(t *testing.T) {
	finished := condition(v1beta1.ConditionFinished, metav1.ConditionTrue, "Inconclusive", "")
	tests := map[string]struct {
		status v1beta1.LoadTestStatus
		want   Outcome
	}{
		"not begun": {},
		"a step and a pause": {
			v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{counted(10, 9, 8), {}, counted(3, 2, 1)}},
			Outcome{Due: 13, Sent: 11, Completed: 9},
		},
		"missing in two steps": {
			v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{MissingAtMost: n(3)}, {}, {MissingAtMost: n(0)}, {MissingAtMost: n(4)}}},
			Outcome{Missing: n(7)},
		},
		"a verdict before the end is none": {v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed}, Outcome{}},
		"finished": {
			v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown, "Inconclusive", "It is unknown."),
				condition(v1beta1.ConditionWorkersReady, metav1.ConditionFalse, "WorkerLost", "1 of 3 workers was lost."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "WorkerLost: 1 of 3 workers was lost."},
		},
		"late, and not limited": {
			v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1beta1.ConditionGeneratorHealthy, metav1.ConditionFalse, "NodeBusy", "It waited."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "NodeBusy: It waited."},
		},
		"late, and not judged": {
			v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictInconclusive, Conditions: []metav1.Condition{finished,
				condition(v1beta1.ConditionGeneratorHealthy, metav1.ConditionFalse, "NodeBusy", "It waited."),
				condition(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown, "LoadDisplaced", "It waited."),
			}},
			Outcome{Verdict: Inconclusive, Reason: "LoadDisplaced: It waited."},
		},
		"limited by a load that was displaced": {
			v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{LoadDisplaced: true}}}, counted(1, 1, 1)}},
			Outcome{Due: 1, Sent: 1, Completed: 1, Limited: true, Displaced: true},
		},
		"the step in which workers were throttled most": {
			v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{
				{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{CPUThrottled: "0.34%"}}},
				{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{CPUThrottled: "9.9%"}}},
				{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{}}},
			}},
			Outcome{Throttled: 9.9},
		},
		"a load that was not displaced": {
			v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Reason: "NodeBusy"}}}}},
			Outcome{},
		},
		"limited by the generator's delay": {undecided(v1beta1.Metric("p95"), v1beta1.ThresholdInconclusive, v1beta1.ReasonGeneratorUncertain), Outcome{Limited: true}},
		"limited by a doubt on downtime":   {undecided(v1beta1.MetricDowntime, v1beta1.ThresholdInconclusive, ""), Outcome{Limited: true}},
		"undecided for another reason":     {undecided(v1beta1.Metric("p95"), v1beta1.ThresholdInconclusive, ""), Outcome{}},
		"down":                             {downFor("6.5%"), Outcome{Down: 260 * time.Millisecond}},
		"down, for nobody knows how long":  {downFor(""), Outcome{}},
		"failed": {
			v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictError, Conditions: []metav1.Condition{finished,
				condition(v1beta1.ConditionWorkersReady, metav1.ConditionFalse, "CreateRefused", "A quota."),
				condition(v1beta1.ConditionCarriedOut, metav1.ConditionFalse, "StartDeadlineExceeded", "A quota, too."),
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
	cut.Internal.StopTime = &stop
	tests := map[string]struct {
		status *v1beta1.LoadTestStatus
		want   string
	}{
		"not seen yet":    {&v1beta1.LoadTestStatus{Phase: v1beta1.PhasePending}, "pending"},
		"starting":        {&v1beta1.LoadTestStatus{Phase: v1beta1.PhaseStarting}, "starting"},
		"held":            {&v1beta1.LoadTestStatus{Phase: v1beta1.PhaseSuspended, CurrentStep: 1, Steps: plan.Steps(&spec)}, "suspended"},
		"the gate":        {running(0, spec, -300*time.Millisecond), "step 1, in 0.3s"},
		"a step":          {running(0, spec, time.Second), "step 1, 1.0s of 2s"},
		"the drain":       {running(0, spec, 2500*time.Millisecond), "step 1, 2.5s of 2s"},
		"a pause":         {running(1, spec, time.Second), "pause, 1.0s of 8s"},
		"cut":             {cut, "step 1, cut, 1.0s of 2s"},
		"between steps":   {&v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning, CurrentStep: 1, Steps: plan.Steps(&spec)}, "pause"},
		"after all steps": {&v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning, CurrentStep: 2, Steps: plan.Steps(&spec)}, "running"},
		"finished": {&v1beta1.LoadTestStatus{Phase: v1beta1.PhaseFinished,
			Conditions: []metav1.Condition{condition(v1beta1.ConditionFinished, metav1.ConditionTrue, "Passed", "")}}, "finished"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "at", tt.want, At(tt.status, now))
		})
	}
}
