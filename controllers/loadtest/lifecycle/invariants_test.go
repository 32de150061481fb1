package lifecycle_test

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// check holds every status to what must always be true.
func (w *simulation) check(before *v1alpha1.LoadTestStatus) {
	w.t.Helper()
	now := w.lt.Status
	complete := meta.IsStatusConditionTrue(now.Conditions, v1alpha1.ConditionComplete)
	failed := meta.IsStatusConditionTrue(now.Conditions, v1alpha1.ConditionFailed)
	if complete && failed {
		w.t.Error("Complete and Failed are both True")
	}
	for _, terminal := range []string{v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled} {
		if meta.IsStatusConditionTrue(before.Conditions, terminal) && !meta.IsStatusConditionTrue(now.Conditions, terminal) {
			w.t.Errorf("%s flipped back", terminal)
		}
	}
	over := lifecycle.Finished(w.lt)
	if over != (complete || failed) || over != (now.Verdict != "") || over != (now.CompletionTime != nil) {
		w.t.Errorf("verdict %q and completionTime %v do not go with Complete=%v, Failed=%v, Finished=%v", now.Verdict, now.CompletionTime, complete, failed, over)
	}
	// The operator's cache does not hold them whole.
	if was := (&v1alpha1.LoadTest{Status: *before}); lifecycle.Finished(was) && !equality.Semantic.DeepEqual(before.Steps, now.Steps) {
		w.t.Error("the steps of a finished run changed")
	}
	w.checkKstatus()
	for i, s := range now.Steps {
		if r := s.Result; r != nil {
			o := r.Outcomes
			sum := o.Success + o.RateLimited + o.ClientError + o.ServerError + o.UnexpectedStatus + o.Timeout + o.Refused + o.Reset + o.DNS + o.TLS + o.BadResponse + o.Unfinished + o.Other
			if sum+r.InFlight != r.Sent || r.Failed != sum-r.Expected || r.Due != r.Sent+r.Unsent {
				w.t.Errorf("step %d: outcomes add up to %d of %d sent, with %d in flight; failed %d, due %d, unsent %d", i, sum, r.Sent, r.InFlight, r.Failed, r.Due, r.Unsent)
			}
			if s.State != v1alpha1.StepRunning && r.InFlight != 0 {
				w.t.Errorf("step %d is %s with %d in flight", i, s.State, r.InFlight)
			}
		}
		if i < len(before.Steps) && before.Steps[i].StartTime != nil && !before.Steps[i].StartTime.Equal(s.StartTime) {
			w.t.Errorf("step %d: its start instant was chosen twice", i)
		}
	}
}

// checkKstatus compares the verdict with what kstatus computes from the conditions,
// as Flux does.
func (w *simulation) checkKstatus() {
	w.t.Helper()
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.lt)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := status.Compute(&unstructured.Unstructured{Object: raw})
	if err != nil {
		w.t.Fatal(err)
	}
	want := status.FailedStatus
	switch w.lt.Status.Verdict {
	case "":
		want = status.InProgressStatus
	case v1alpha1.VerdictPassed:
		want = status.CurrentStatus
	}
	if got.Status != want {
		w.t.Errorf("in phase %s with verdict %q kstatus is %s (%s), want %s", w.lt.Status.Phase, w.lt.Status.Verdict, got.Status, got.Message, want)
	}
	for _, c := range w.lt.Status.Conditions {
		if abnormal := c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled; abnormal && c.Status != metav1.ConditionTrue {
			w.t.Errorf("%s is %s, want it True or absent", c.Type, c.Status)
		}
	}
}
