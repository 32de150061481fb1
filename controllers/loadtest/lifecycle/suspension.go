package lifecycle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// heldBySpec is the message of a run that spec.suspend keeps from beginning.
const heldBySpec = "spec.suspend holds the run; set it to false to begin."

// suspend keeps a run from beginning; there are no workers while it is held. What a setup has sent is sent again
// once a user resumes the run.
func (r *pass) suspend(reason, message string) {
	r.withoutPlace()
	r.out.Status.Phase = v1beta1.PhaseSuspended
	r.suspended(reason, message)
}

// withoutPlace takes a run back that has begun no step: it is planned anew when its place comes. Without status.loads, none of
// its loads begins until then.
func (r *pass) withoutPlace() {
	s := &r.out.Status
	s.StartTime, s.Baseline, s.Environment = nil, nil, nil
	s.Internal.Access, s.Internal.ControlAccess, s.Internal.OtherAccess, s.Internal.Auditing, s.Internal.HeldSince = nil, nil, nil, nil, nil
	s.Workers.Ready, s.Loads = 0, nil
	r.withoutJob()
}

// withoutJob deletes the Job of a run that has not begun: it was made before the run was
// held, and may be seen only now.
func (r *pass) withoutJob() {
	if r.seen.Job == JobPresent || r.seen.Job == JobFinished {
		r.out.Job = JobDelete
	}
}

func (r *pass) suspended(reason, message string) {
	c := meta.FindStatusCondition(r.read.Conditions, v1beta1.ConditionSuspended)
	if c == nil || c.Reason != reason { // that of one that is False is Resumed
		r.event(reason, message)
	}
	r.set(v1beta1.ConditionSuspended, metav1.ConditionTrue, reason, message)
}

func (r *pass) resumed() {
	if meta.IsStatusConditionTrue(r.read.Conditions, v1beta1.ConditionSuspended) {
		r.event(v1beta1.ReasonResumed, "The run was resumed.")
		r.set(v1beta1.ConditionSuspended, metav1.ConditionFalse, v1beta1.ReasonResumed, "The run was resumed.")
	}
}
