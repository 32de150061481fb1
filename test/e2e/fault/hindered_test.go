package fault

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestIsHindered(t *testing.T) {
	uncertain := undecided("p95", v1beta1.ThresholdInconclusive, v1beta1.ReasonGeneratorUncertain)
	downtime := undecided(v1beta1.MetricDowntime, v1beta1.ThresholdInconclusive, "")
	short := undecided("p99.9", v1beta1.ThresholdInconclusive, "")
	displaced := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{LoadDisplaced: true}}}}}
	unhealthy := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}}}}}
	late := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Message: "a worker began the step 2s late."}}}
	met := func(reason string) v1beta1.LoadTestStatus {
		return v1beta1.LoadTestStatus{Conditions: []metav1.Condition{condition(v1beta1.ConditionThresholdsMet, metav1.ConditionFalse, reason, "")}}
	}
	for name, tt := range map[string]struct {
		status  v1beta1.LoadTestStatus
		verdict v1beta1.Verdict
		want    bool
	}{
		"the time may be the generator's":      {uncertain, v1beta1.VerdictInconclusive, true},
		"a worker stood still":                 {downtime, v1beta1.VerdictInconclusive, true},
		"the load was displaced":               {displaced, v1beta1.VerdictInconclusive, true},
		"a worker began late":                  {late, v1beta1.VerdictInconclusive, true},
		"the generator is unhealthy":           {unhealthy, v1beta1.VerdictInconclusive, false},
		"too few requests for the quantile":    {short, v1beta1.VerdictInconclusive, false},
		"failed, and a worker began late":      {late, v1beta1.VerdictFailed, false},
		"failed, and the target was down":      {met(v1beta1.ReasonTargetDown), v1beta1.VerdictFailed, true},
		"failed by a threshold":                {met(v1beta1.ReasonThresholdBreached), v1beta1.VerdictFailed, false},
		"failed, and no condition says why":    {v1beta1.LoadTestStatus{}, v1beta1.VerdictFailed, false},
		"passed, and another time is not sure": {uncertain, v1beta1.VerdictPassed, false},
	} {
		tt.status.Verdict = tt.verdict
		same.As(t, name+": hindered", tt.want, IsHindered(&tt.status))
	}
}
