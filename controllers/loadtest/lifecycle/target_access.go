package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Access is where the targets lead to, as it was read, and what the policy says about it.
type Access struct {
	// Target and Control are where workers may connect to. Control is nil without one.
	Target, Control *v1beta1.TargetAccess
	// Others are the same for the targets that requests may name, in the order of spec.otherTargets.
	Others []v1beta1.TargetAccess
	// Problem is why that is not known yet, and Refusal why a target is not allowed: each is
	// a sentence that names the field. Both are empty if the access is known.
	Problem, Refusal string
	// Gone is why what was allowed when the run began is not there any more, likewise.
	Gone string
}

// NeedsAccess says whether Observed must say where the targets of a run lead to: as it
// begins, and again while it goes on.
func NeedsAccess(lt *v1beta1.LoadTest) bool {
	if lt.Status.StartTime == nil {
		return !isFinished(lt.Status.Conditions) && !lt.Spec.Suspend
	}
	return !isFinished(lt.Status.Conditions) && lt.Status.KnowsTargets()
}

// grantAccess writes once where workers may connect to, and ends a run whose target is not
// allowed. That may happen to a run that is under way, as a name may lead to another target.
func (r *pass) grantAccess() (goesOn bool) {
	if !r.refuse(r.accessRefusal(r.test, plan.Foreseen(r.spec, &r.read))) {
		return false
	}
	if !r.read.HasAccess() {
		r.noteAccess()
	}
	return true
}

// accessRefusal is why a target is not allowed, or why its addresses do not fit into the
// status beside those steps; nil: neither, as far as they were read.
func (r *inputs) accessRefusal(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus) *plan.Refusal {
	a := r.seen.Access
	switch {
	case a == nil:
		return nil
	case a.Gone != "":
		return &plan.Refusal{Reason: v1beta1.ReasonTargetGone, Message: a.Gone}
	case a.Refusal != "":
		return &plan.Refusal{Reason: v1beta1.ReasonTargetNotAllowed, Message: a.Refusal}
	case a.Problem != "" || r.read.HasAccess():
		return nil
	}
	takes, free := v1beta1.JSONSize(a.Target)+v1beta1.JSONSize(a.Control)+v1beta1.JSONSize(a.Others), room(lt, steps)
	if takes <= free {
		return nil
	}
	const unit = 1 << 10
	return &plan.Refusal{Reason: v1beta1.ReasonInvalidSpec, Message: fmt.Sprintf("spec.target: the addresses that it may lead to take %d KiB, but the LoadTest has %d KiB left; "+
		"use fewer steps, repetitions, types or journeys, or ask the administrator to allow fewer ranges in targets.rules of the operator's configuration.", takes/unit, free/unit)}
}

func (r *pass) noteAccess() {
	a, s := r.seen.Access, &r.out.Status
	if a == nil || a.Problem != "" {
		return
	}
	s.Internal.Access, s.Internal.ControlAccess, s.Internal.OtherAccess = a.Target, a.Control, a.Others
}

// lacksAccess says whether the addresses of a target were looked up and are not known yet.
func (r *inputs) lacksAccess() bool {
	return r.seen.Access != nil && r.seen.Access.Problem != "" && !r.read.HasAccess()
}
