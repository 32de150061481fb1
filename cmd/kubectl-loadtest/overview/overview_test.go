package overview_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/overview"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What runs and has a problem comes before what has ended badly, and a wait that every
// run has is no problem.
func TestSortByAttention(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	running := func(condition, reason string) v1beta1.LoadTestStatus {
		return v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning, Conditions: []metav1.Condition{
			{Type: condition, Status: metav1.ConditionFalse, Reason: reason, Message: "p95 is 2s in step two; at most 1s is allowed."},
		}}
	}
	var rows []overview.Row
	for i, lt := range []struct {
		name    string
		suspend bool
		status  v1beta1.LoadTestStatus
	}{
		{"passed", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed}},
		{"canceled", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictCanceled}},
		{"waits", false, running(v1beta1.ConditionWorkersReady, v1beta1.ReasonWaiting)},
		{"held", true, v1beta1.LoadTestStatus{Phase: v1beta1.PhaseSuspended}},
		{"older failure", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictFailed}},
		{"newer failure", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictFailed}},
		{"inconclusive", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictInconclusive}},
		{"error", false, v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictError}},
		{"breaches", false, running(v1beta1.ConditionThresholdsMet, v1beta1.ReasonThresholdBreached)},
	} {
		object := &v1beta1.LoadTest{Status: lt.status}
		object.Name, object.Spec.Suspend = lt.name, lt.suspend
		object.CreationTimestamp = metav1.NewTime(start.Add(time.Duration(i) * time.Minute))
		rows = append(rows, overview.New(object))
	}
	overview.Sort(rows, overview.ByAttention)
	var got []string
	for _, r := range rows {
		got = append(got, r.Name)
	}
	want := []string{"breaches", "error", "newer failure", "older failure", "inconclusive", "held", "waits", "canceled", "passed"}
	same.As(t, "the order", want, got)
	if rows[0].Attention != "p95 is 2s in step two; at most 1s is allowed." || rows[5].Attention != "held by spec.suspend" {
		t.Errorf("attention %q and %q", rows[0].Attention, rows[5].Attention)
	}
}
