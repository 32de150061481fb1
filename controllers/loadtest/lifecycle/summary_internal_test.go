package lifecycle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
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
		"a search so far":                 {ofRate, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{Low: "400"}}, "400/s"},
		"a search of users so far":        {ofUsers, v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{Low: "40"}}, "40 users"},
		"a search that was given up":      {ofRate, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictCanceled, Search: &v1beta1.SearchStatus{Low: "400"}}, ""},
	} {
		if got := sustained(tc.spec, &tc.status); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
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
		if got := reasonOf(conditions); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
