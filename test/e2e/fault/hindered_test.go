package fault

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

func TestIsHindered(t *testing.T) {
	uncertain := undecided("p95", v1alpha1.ThresholdInconclusive, v1alpha1.ReasonGeneratorUncertain)
	downtime := undecided(v1alpha1.MetricDowntime, v1alpha1.ThresholdInconclusive, "")
	short := undecided("p99.9", v1alpha1.ThresholdInconclusive, "")
	displaced := v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{LoadDisplaced: true}}}}}
	unhealthy := v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{Result: &v1alpha1.StepResult{Generator: &v1alpha1.GeneratorStatus{Reason: v1alpha1.ReasonNodeBusy}}}}}
	late := v1alpha1.LoadTestStatus{Steps: []v1alpha1.StepStatus{{Message: "a worker began the step 2s late."}}}
	met := func(reason string) v1alpha1.LoadTestStatus {
		return v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionFalse, reason, "")}}
	}
	for name, tt := range map[string]struct {
		status  v1alpha1.LoadTestStatus
		verdict v1alpha1.Verdict
		want    bool
	}{
		"the time may be the generator's":      {uncertain, v1alpha1.VerdictInconclusive, true},
		"a worker stood still":                 {downtime, v1alpha1.VerdictInconclusive, true},
		"the load was displaced":               {displaced, v1alpha1.VerdictInconclusive, true},
		"a worker began late":                  {late, v1alpha1.VerdictInconclusive, true},
		"the generator is unhealthy":           {unhealthy, v1alpha1.VerdictInconclusive, false},
		"too few requests for the quantile":    {short, v1alpha1.VerdictInconclusive, false},
		"failed, and a worker began late":      {late, v1alpha1.VerdictFailed, false},
		"failed, and the target was down":      {met(v1alpha1.ReasonTargetDown), v1alpha1.VerdictFailed, true},
		"failed by a threshold":                {met(v1alpha1.ReasonThresholdBreached), v1alpha1.VerdictFailed, false},
		"failed, and no condition says why":    {v1alpha1.LoadTestStatus{}, v1alpha1.VerdictFailed, false},
		"passed, and another time is not sure": {uncertain, v1alpha1.VerdictPassed, false},
	} {
		tt.status.Verdict = tt.verdict
		if got := IsHindered(&tt.status); got != tt.want {
			t.Errorf("%s: hindered is %t, want %t", name, got, tt.want)
		}
	}
}
