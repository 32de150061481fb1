package report_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestFailuresAreAddedUpOverSteps(t *testing.T) {
	of := func(name string, timeouts, resets int64, samples ...v1beta1.ErrorSample) v1beta1.RequestResult {
		r := v1beta1.RequestResult{Name: name, ErrorSamples: samples}
		r.Failed, r.Outcomes = timeouts+resets, v1beta1.Outcomes{Timeout: timeouts, Reset: resets}
		return r
	}
	step := func(name string, requests ...v1beta1.RequestResult) v1beta1.StepStatus {
		return v1beta1.StepStatus{Name: name, Result: &v1beta1.StepResult{Requests: requests}}
	}
	late := v1beta1.ErrorSample{Outcome: "timeout", Message: `request "pay": no answer within 2s`}
	later := v1beta1.ErrorSample{Outcome: "timeout", Message: `request "pay": no answer within 3s`}
	got := report.FailuresByRequest([]v1beta1.StepStatus{
		step("a", of("cart", 0, 0), of("pay", 3, 0)),
		{Name: "pause"},
		step("b", of("cart", 0, 2), of("pay", 7, 1, late)),
		step("c", of("pay", 5, 0, later)),
	})
	want := []report.Failure{
		{Request: "pay", Class: "timeouts", Message: "no answer within 2s", Count: 15, Where: "3 steps, 7 in b"},
		{Request: "cart", Class: "connection reset", Count: 2, Where: "b"},
		{Request: "pay", Class: "connection reset", Count: 1, Where: "b"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		same.As(t, want[i].Request+" "+want[i].Class, want[i], got[i])
	}
}

// A sentence stands where it comes first; what is left of a message is said.
func TestMessagesWithoutWhatWasSaid(t *testing.T) {
	s := &v1beta1.LoadTestStatus{}
	s.Conditions = []metav1.Condition{{Type: v1beta1.ConditionThresholdsMet, Message: "p95 is 20ms in step a; at most 15ms is allowed. One more threshold was breached."}}
	s.Thresholds = []v1beta1.ThresholdStatus{
		{Name: "p95", Message: "p95 is 20ms in step a; at most 15ms is allowed."},
		{Name: "p99", Message: "p99 is 30ms in step a. It is more than that."},
		{Name: "again", Message: "p99 is 30ms in step a. p95 is 20ms in step a; at most 15ms is allowed."},
		{Name: "empty"},
	}
	same.As(t, "thresholds", []string{"See the verdict.", "p99 is 30ms in step a. It is more than that.", "See threshold p99.", ""}, report.ThresholdResults(s))
	s.Audits = []v1beta1.AuditStatus{{Message: "One more threshold was breached."}, {Message: "7 are missing."}}
	same.As(t, "audits", []string{"See the verdict.", "7 are missing."}, report.AuditResults(s))
}
