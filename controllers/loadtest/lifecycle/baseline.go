package lifecycle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// NeedsBaseline says whether a run cannot begin before its baseline has finished and was
// copied.
func NeedsBaseline(lt *v1beta1.LoadTest) bool {
	in := &inputs{spec: &lt.Spec, read: lt.Status}
	return !isFinished(in.read.Conditions) && in.lacksBaseline(&in.read)
}

func (r *inputs) lacksBaseline(s *v1beta1.LoadTestStatus) bool {
	return r.spec.Baseline != nil && s.Baseline == nil
}

// copyBaselineFor copies the figures with which this run compares itself, once its baseline
// has finished. Until then the run waits for it, as for the Service of its target. With
// spec.baseline.optional, a run that cannot be compared begins all the same.
func (r *pass) copyBaselineFor(steps []v1beta1.StepStatus) *plan.Refusal {
	s := &r.out.Status
	if !r.lacksBaseline(s) {
		return nil
	}
	copied, refusal := r.baselineCopy(steps)
	switch {
	case refusal != nil && r.spec.Baseline.Optional:
		copied = &v1beta1.BaselineStatus{Missing: text.Truncate(refusal.Message, maxMissing)}
	case refusal != nil:
		return refusal
	case copied == nil:
		return nil
	}
	s.Baseline = copied
	return checkBaselineRoom(r.test, steps, copied)
}

// maxMissing is the bound that the API puts on status.baseline.missing.
const maxMissing = 1024

// baselineCopy is what is copied, or why nothing can be; neither: the run waits.
func (r *pass) baselineCopy(steps []v1beta1.StepStatus) (*v1beta1.BaselineStatus, *plan.Refusal) {
	b, found := r.spec.Baseline, r.seen.Baseline
	switch {
	case r.seen.Level != nil:
		return baseline.CopyLevel(r.spec, steps, r.seen.Level)
	case found != nil && Finished(found):
		return baseline.Copy(r.spec, steps, found)
	case r.seen.BaselineAbsent && (b.Selector != nil || b.Optional):
		return nil, baseline.None(b)
	}
	return nil, nil
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
