package lifecycle

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What was kept is a column: of a search that goes on, what was kept so far.
func TestSustainedLoadOfTheSummary(t *testing.T) {
	users := int32(384)
	ofUsers, ofRate := &v1beta1.LoadTestSpec{Search: &v1beta1.Search{Users: &v1beta1.UsersRange{}}}, &v1beta1.LoadTestSpec{Search: &v1beta1.Search{}}
	for name, tc := range map[string]struct {
		spec   *v1beta1.LoadTestSpec
		status v1beta1.LoadTestStatus
		want   string
	}{
		"nothing":                         {ofRate, v1beta1.LoadTestStatus{}, ""},
		"users":                           {&v1beta1.LoadTestSpec{}, v1beta1.LoadTestStatus{MaxSustainedUsers: &users}, "384 users"},
		"a rate":                          {&v1beta1.LoadTestSpec{}, v1beta1.LoadTestStatus{MaxSustainedRate: "1900.5"}, "1901/s"},
		"a search that has found nothing": {ofRate, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{}}, ""},
		"a search of users, likewise":     {ofUsers, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{}}, ""},
		"a search so far":                 {ofRate, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{Low: "400"}}, "400/s"},
		"a search of another spec":        {&v1beta1.LoadTestSpec{}, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{Low: "400"}}, "400/s"},
		"a search of users so far":        {ofUsers, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{Low: "40"}}, "40 users"},
		"a search that was given up":      {ofRate, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictCanceled, Search: &v1beta1.SearchStatus{Low: "400"}}, ""},
	} {
		same.As(t, name+": what it sustained", tc.want, sustained(tc.spec, &tc.status))
	}
}

// The reason is of the condition that says most.
func TestReasonOfTheSummary(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: kind + string(status)}
	}
	waits := condition(v1beta1.ConditionWorkersReady, metav1.ConditionFalse)
	held := condition(v1beta1.ConditionSuspended, metav1.ConditionTrue)
	for want, conditions := range map[string][]metav1.Condition{
		"":                     {condition(v1beta1.ConditionWorkersReady, metav1.ConditionTrue), condition(v1beta1.ConditionThresholdsMet, metav1.ConditionTrue)},
		"WorkersReadyFalse":    {waits},
		"SuspendedTrue":        {waits, held},
		"ThresholdsMetFalse":   {waits, held, condition(v1beta1.ConditionThresholdsMet, metav1.ConditionFalse)},
		"CarriedOutFalse":      {waits, condition(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown), condition(v1beta1.ConditionCarriedOut, metav1.ConditionFalse)},
		"ThresholdsMetUnknown": {waits, condition(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown)},
	} {
		same.As(t, "reason", want, reasonOf(conditions))
	}
}

// What came of a probe is judged only if the load came from the plan.
func TestWhatCameOfAProbe(t *testing.T) {
	trend := func(o v1beta1.OutstandingTrend) *v1beta1.StepResult {
		return &v1beta1.StepResult{Outstanding: &v1beta1.OutstandingResult{Trend: o}}
	}
	displaced := &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{LoadDisplaced: true}}
	for name, tc := range map[string]struct {
		state  v1beta1.ThresholdState
		result *v1beta1.StepResult
		want   string
	}{
		"kept":                {v1beta1.ThresholdPassed, &v1beta1.StepResult{}, "every threshold was kept"},
		"kept, and grew":      {v1beta1.ThresholdPassed, trend(v1beta1.OutstandingGrowing), "every threshold was kept, and outstanding requests grew"},
		"kept, and may have":  {v1beta1.ThresholdPassed, trend(v1beta1.OutstandingUncertain), "every threshold was kept, and outstanding requests may have grown because of the generator alone"},
		"breached, and grew":  {v1beta1.ThresholdFailed, trend(v1beta1.OutstandingGrowing), "a threshold was breached"},
		"kept in part":        {v1beta1.ThresholdInconclusive, &v1beta1.StepResult{}, "the target could not be judged"},
		"kept, displaced":     {v1beta1.ThresholdPassed, displaced, "the target could not be judged"},
		"breached, displaced": {v1beta1.ThresholdFailed, displaced, "the target could not be judged"},
		"nothing is known":    {v1beta1.ThresholdPassed, nil, "the target could not be judged"},
	} {
		r := &running{&pass{}}
		r.tellProbe(&v1beta1.StepStatus{Name: "7", State: v1beta1.StepComplete, ThresholdState: tc.state, Result: tc.result})
		r.tellProbe(&v1beta1.StepStatus{Name: "8", State: v1beta1.StepCut, ThresholdState: tc.state, Result: tc.result})
		same.As(t, name, []Event{{Reason: "Probed", Message: "Step 7: " + tc.want + "."}, {Reason: "Probed", Message: "Step 8: the target could not be judged."}}, r.out.Events)
	}
}

// One audit speaks for itself; of several the first that failed, or is undecided.
func TestConditionOfAudits(t *testing.T) {
	for want, states := range map[string][]v1beta1.AuditState{
		"True AuditsPassed: 0 is Passed":               {v1beta1.AuditPassed},
		"True AuditsPassed: All 2 audits passed.":      {v1beta1.AuditPassed, v1beta1.AuditPassed},
		"False AuditFailed: 2 is Failed":               {v1beta1.AuditPassed, v1beta1.AuditInconclusive, v1beta1.AuditFailed},
		"False AuditFailed: 0 is Failed":               {v1beta1.AuditFailed},
		"Unknown AuditInconclusive: 0 is Inconclusive": {v1beta1.AuditInconclusive, v1beta1.AuditPending},
		"Unknown AuditsPending: A worker reads the numbers of the audits before the first step and after the last.": {v1beta1.AuditPending},
		"": nil,
	} {
		r := &pass{}
		for i, state := range states {
			r.out.Status.Audits = append(r.out.Status.Audits, v1beta1.AuditStatus{State: state, Message: fmt.Sprintf("%d is %s", i, state)})
		}
		r.auditsCondition()
		got := ""
		for _, c := range r.out.Status.Conditions {
			got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
		same.As(t, "condition", want, got)
	}
}

// How many steps a search has is known once it is over.
func TestStepsOfASearch(t *testing.T) {
	s := &v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{}}
	same.As(t, "while it goes on", "3", stepOf(s, 3, 4))
	s.Verdict = v1beta1.VerdictPassed
	same.As(t, "then", "3/4", stepOf(s, 3, 4))
}
