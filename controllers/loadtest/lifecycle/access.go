package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Access is what was read of where the targets lead to, and what the policy says of it.
type Access struct {
	// Target and Control are where workers may connect to. Control is nil without one.
	Target, Control *v1alpha1.TargetAccess
	// Problem is why that is not known yet, and Refusal why a target is not allowed: each a
	// sentence that names the field. Empty, both: it is known.
	Problem, Refusal string
}

// NeedsAccess says whether it has to be read where the targets of a run lead to: as it
// begins, and again while it goes on.
func NeedsAccess(lt *v1alpha1.LoadTest) bool {
	if lt.Status.StartTime == nil {
		return !finished(lt.Status.Conditions) && !lt.Spec.Suspend
	}
	return !finished(lt.Status.Conditions) && lt.Status.KnowsTargets()
}

// grantAccess notes where workers may connect to, once, or ends a run whose target is not
// allowed: one that is under way as well, as what a name leads to may change.
func (r *run) grantAccess() (goesOn bool) {
	if refusal := r.accessRefusal(r.test, plan.Foreseen(r.spec, &r.read)); refusal != nil {
		r.refuse(refusal)
		return false
	}
	if !r.read.HasAccess() {
		r.noteAccess()
	}
	return true
}

// accessRefusal is why a target is not allowed, or has no room in the status beside those
// steps; nil: it is and has, as far as it was read.
func (r *run) accessRefusal(lt *v1alpha1.LoadTest, steps []v1alpha1.StepStatus) *plan.Refusal {
	a := r.seen.Access
	switch {
	case a == nil:
		return nil
	case a.Refusal != "":
		return &plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: a.Refusal}
	case a.Problem != "" || r.read.HasAccess():
		return nil
	}
	takes, free := size(a.Target)+size(a.Control), room(lt, steps)
	if takes <= free {
		return nil
	}
	const unit = 1 << 10
	return &plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf("spec.target: the addresses that it may lead to take %d KiB, and the LoadTest has %d KiB left; "+
		"have fewer steps, repetitions or types, or have the administrator allow fewer ranges in targets.rules of the operator's configuration.", takes/unit, free/unit)}
}

func (r *run) noteAccess() {
	a, s := r.seen.Access, &r.out.Status
	if a == nil || a.Problem != "" {
		return
	}
	if s.Access = a.Target; s.Versus != nil {
		s.Versus.Access = a.Control
	}
}

// lacksAccess says whether it was read and is not known yet where the targets lead to.
func (r *run) lacksAccess() bool {
	return r.seen.Access != nil && r.seen.Access.Problem != "" && !r.read.HasAccess()
}
