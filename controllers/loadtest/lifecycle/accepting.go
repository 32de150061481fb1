package lifecycle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// accepting is a pass over a run that has not been taken up: can its spec be carried out,
// and may it begin?
type accepting struct {
	*pass
	planned plan.Plan
	// queries are the names of those that the run asks for.
	queries []string
	// sized is the LoadTest with all that its status will hold beside its steps, and foreseen
	// are all steps that it may have.
	sized    *v1beta1.LoadTest
	foreseen []v1beta1.StepStatus
}

// acceptingPhases read the spec and the rules. planRun writes the fields of accepting, which
// the phases up to begin read; each of them may refuse the run. Only begin writes the plan
// into the status.
var acceptingPhases = []phase[*accepting]{
	(*accepting).awaitParent,
	(*accepting).requireRules,
	(*accepting).planRun,
	(*accepting).checkSize,
	(*accepting).checkAccess,
	(*accepting).copyBaseline,
	(*accepting).accept,
	(*accepting).keepWaiting,
	(*accepting).begin,
}

// requireRules keeps a run waiting while the administrator's rules cannot be read: what
// they would refuse is not known.
func (r *accepting) requireRules() (goesOn bool) {
	if r.rules.Valid() {
		return true
	}
	r.keepWaiting()
	return false
}

// planRun reads the spec and writes the plan of this pass, or refuses the spec.
func (r *accepting) planRun() (goesOn bool) {
	planned, refusal := plan.New(r.test, r.rules)
	if refusal != nil {
		return r.refuse(refusal)
	}
	var problem string
	if r.queries, problem = question.Chosen(r.spec, r.rules.Queries); problem != "" {
		return r.refuse(&plan.Refusal{Reason: v1beta1.ReasonQueryNotAllowed, Message: problem})
	}
	if p := r.seen.Parent; p != nil {
		planned.OfAll(r.spec, p.Workers, r.rules.Limits)
	}
	r.planned, r.sized = planned, r.test.DeepCopy()
	r.sized.Status.Environment, r.sized.Status.Internal.Queries = r.environment(), r.queries
	r.foreseen = plan.Foreseen(r.spec, &v1beta1.LoadTestStatus{Steps: planned.Steps, Search: planned.Search})
	return true
}

// checkSize refuses a run whose status would not fit into the store.
func (r *accepting) checkSize() (goesOn bool) { return r.refuse(checkRoom(r.sized, r.foreseen)) }

// checkAccess refuses a run whose target is not allowed, as far as its addresses were read.
func (r *accepting) checkAccess() (goesOn bool) {
	return r.refuse(r.accessRefusal(r.sized, r.foreseen))
}

// copyBaseline writes the figures of a baseline that has finished, or refuses it.
func (r *accepting) copyBaseline() (goesOn bool) {
	return r.refuse(r.copyBaselineFor(r.planned.Steps))
}

// accept writes that the spec can be carried out.
func (r *accepting) accept() (goesOn bool) {
	r.set(v1beta1.ConditionAccepted, metav1.ConditionTrue, v1beta1.ReasonAccepted, "The spec can be carried out."+r.quietNote(r.planned.Longest))
	return true
}

// keepWaiting ends a run that is not to begin, and holds or queues one that may not begin
// yet. It reads the spec, the rules and the run's place in the queue.
func (r *accepting) keepWaiting() (goesOn bool) {
	switch {
	case r.spec.Terminate:
		r.cancel()
	case r.spec.Suspend:
		r.suspend(v1beta1.ReasonSuspended, heldBySpec)
	case r.held != nil:
		r.hold()
	case r.seen.Place != nil && !r.seen.Place.Begins:
		r.queue(*r.seen.Place)
	default:
		return true
	}
	return false
}

// beginning says what follows once a run begins.
func beginning(s *v1beta1.LoadTestStatus) string {
	if n := len(s.Loads); n > 0 {
		return fmt.Sprintf("The run begins; LoadTests of its %s are created.", text.Plural(int64(n), "load"))
	}
	return "The run begins; its workers are created."
}

// begin writes the plan into the status: from the next pass on, workers are wanted.
func (r *accepting) begin() (goesOn bool) {
	s := &r.out.Status
	now := metav1.NewTime(r.now)
	s.StartTime = &now
	s.Phase = v1beta1.PhaseStarting
	r.planned.Record(s)
	r.noteAccess()
	s.Environment, s.Internal.Queries = r.environment(), r.queries
	if len(s.Loads) == 0 {
		s.Thresholds = verdict.Thresholds(r.spec, s.Requests, s.Steps)
	}
	r.auditsPending("")
	r.resumed()
	r.event("Started", r.leaveQueue()+beginning(s))
	return true
}
