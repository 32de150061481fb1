package lifecycle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// NeedsBaseline says whether a run cannot begin before its baseline has finished and was
// copied.
func NeedsBaseline(lt *v1beta1.LoadTest) bool {
	in := &inputs{spec: &lt.Spec, read: lt.Status}
	return !isFinished(in.read.Conditions) && !in.hasStarted() && in.lacksBaseline(&in.read)
}

func (r *inputs) lacksBaseline(s *v1beta1.LoadTestStatus) bool {
	return r.spec.Baseline != nil && s.Baseline == nil
}

// copyBaselineFor copies the figures with which this run compares itself, once its baseline
// has finished. Until then the run waits for it, as for the Service of its target.
func (r *pass) copyBaselineFor(steps []v1beta1.StepStatus) *plan.Refusal {
	s := &r.out.Status
	if !r.lacksBaseline(s) {
		return nil
	}
	var copied *v1beta1.BaselineStatus
	var refusal *plan.Refusal
	switch {
	case r.seen.Level != nil:
		copied, refusal = baseline.CopyLevel(r.spec, steps, r.seen.Level)
	case r.seen.Baseline != nil && Finished(r.seen.Baseline):
		copied, refusal = baseline.Copy(r.spec, steps, r.seen.Baseline)
	default:
		return nil
	}
	if refusal != nil {
		return refusal
	}
	s.Baseline = copied
	return checkBaselineRoom(r.test, steps, copied)
}

// checkBaselineRoom refuses a baseline beside which the results would not fit.
func checkBaselineRoom(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus, copied *v1beta1.BaselineStatus) *plan.Refusal {
	free := room(lt, steps)
	if v1beta1.JSONSize(copied) <= free {
		return nil
	}
	const unit = 1 << 10
	return &plan.Refusal{Reason: v1beta1.ReasonBaselineRefused, Message: fmt.Sprintf("spec.baseline: its figures take %d KiB, but the LoadTest has %d KiB left; use fewer steps or repetitions.",
		v1beta1.JSONSize(copied)/unit, free/unit)}
}

// refuse ends a run that cannot be carried out, if there is a refusal.
func (r *pass) refuse(refusal *plan.Refusal) (goesOn bool) {
	if refusal == nil {
		return true
	}
	r.set(v1beta1.ConditionAccepted, metav1.ConditionFalse, refusal.Reason, refusal.Message)
	r.fail(v1beta1.VerdictError, refusal.Reason, refusal.Message)
	return false
}
