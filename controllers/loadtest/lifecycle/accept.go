package lifecycle

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// accept is the first pass: can the spec be carried out, and may it begin?
func (r *run) accept() {
	lt := r.test
	if !r.rules.Valid() {
		r.isKept() // what they would refuse is not known
		return
	}
	planned, refusal := plan.New(lt, r.rules)
	if refusal == nil && r.looks() {
		lt = lt.DeepCopy()
		lt.Status.Environment = &v1alpha1.EnvironmentStatus{}
	}
	if refusal == nil {
		foreseen := plan.Foreseen(&lt.Spec, &v1alpha1.LoadTestStatus{Steps: planned.Steps, Search: planned.Search})
		refusal = cmp.Or(checkRoom(lt, foreseen), r.accessRefusal(lt, foreseen))
	}
	if refusal == nil {
		refusal = r.copyBaseline(planned.Steps)
	}
	if refusal != nil {
		r.refuse(refusal)
		return
	}
	r.set(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v1alpha1.ReasonAccepted, "The spec can be carried out."+r.quietNote(planned.Steps))
	if !r.isKept() {
		r.start(planned)
	}
}

// isKept ends a run that has not begun, or keeps it from beginning, if that is wanted.
func (r *run) isKept() bool {
	switch {
	case r.spec.Terminate:
		r.cancel()
	case r.spec.Suspend:
		r.suspend(v1alpha1.ReasonSuspended, heldBySpec)
	case r.held != nil:
		r.hold()
	case r.seen.Place != nil && !r.seen.Place.Begins:
		r.queue(*r.seen.Place)
	default:
		return false
	}
	return true
}

// heldBySpec is the message of a run that has not begun.
const heldBySpec = "The run is held by spec.suspend; set it to false to begin."

// suspend keeps a run from beginning; there are no workers while it is held.
func (r *run) suspend(reason, message string) {
	s := &r.out.Status
	s.Phase = v1alpha1.PhaseSuspended
	s.StartTime, s.Access, s.Auditing, s.Baseline, s.Environment = nil, nil, nil, nil, nil
	s.Workers.Ready = 0
	r.withoutJob()
	r.suspended(reason, message)
}

// withoutJob deletes the Job of a run that has not begun: it was made before the run was
// held, and may be seen only now.
func (r *run) withoutJob() {
	if r.seen.Job == JobPresent || r.seen.Job == JobFinished {
		r.out.Job = JobDelete
	}
}

func (r *run) suspended(reason, message string) {
	c := meta.FindStatusCondition(r.read.Conditions, v1alpha1.ConditionSuspended)
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != reason {
		r.event(reason, message)
	}
	r.set(v1alpha1.ConditionSuspended, metav1.ConditionTrue, reason, message)
}

func (r *run) resumed() {
	if meta.IsStatusConditionTrue(r.read.Conditions, v1alpha1.ConditionSuspended) {
		r.event(v1alpha1.ReasonResumed, "The run is resumed.")
		r.set(v1alpha1.ConditionSuspended, metav1.ConditionFalse, v1alpha1.ReasonResumed, "The run is resumed.")
	}
}

// start takes the run up: from the next pass on, workers are wanted.
func (r *run) start(planned plan.Plan) {
	s := &r.out.Status
	now := metav1.NewTime(r.now)
	s.StartTime = &now
	s.Phase = v1alpha1.PhaseStarting
	planned.Record(s)
	r.noteAccess()
	if r.looks() {
		s.Environment = &v1alpha1.EnvironmentStatus{}
	}
	s.Thresholds = verdict.Thresholds(r.spec, s.Requests, s.Steps)
	r.auditsPending("")
	r.resumed()
	r.event("Started", r.leaveQueue()+"The run begins; its workers are created.")
}
