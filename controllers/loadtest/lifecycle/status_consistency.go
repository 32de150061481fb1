package lifecycle

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// inconsistency names a part of the status of a run under way that no operator of this API
// would have written; empty: there is none. Such a status, restored by hand or edited, cannot
// be relied on, and a run with it could neither go on nor end.
func (r *inputs) inconsistency() string {
	s := &r.read
	switch {
	case s.Verdict != "":
		return "verdict is set, but condition Finished is not True"
	case s.StartTime == nil:
		return "" // the run is planned anew
	case len(r.spec.Loads) > 0:
		return r.loadsInconsistency()
	case len(s.Steps) == 0:
		return "steps is empty, but startTime is set"
	case (s.Search == nil) != (r.spec.Search == nil):
		return "search does not follow from spec.search"
	case s.Workers.Desired < 1:
		return "workers.desired is less than 1"
	case s.Internal.Auditing != nil && (s.Internal.Auditing.Point == v1beta1.AuditBefore) == r.hasStarted():
		return "auditing does not belong to this part of the run"
	}
	if problem := r.targetsInconsistency(); problem != "" {
		return problem
	}
	if len(s.Audits) > 0 && !slices.EqualFunc(s.Audits, r.spec.StoredAudits(), func(a v1beta1.AuditStatus, b v1beta1.Audit) bool { return a.Name == b.Name }) {
		return "audits do not match spec.audits"
	}
	if s.Internal.Auditing != nil && s.Internal.Auditing.Point == v1beta1.AuditAfter {
		return endedInconsistency(s.Steps)
	}
	return stepsInconsistency(s.Steps, r.toleratesLoss())
}

// targetsInconsistency names what is wrong with the targets of a run under way.
func (r *inputs) targetsInconsistency() string {
	s := &r.read
	switch {
	case (s.Versus == nil) != (r.spec.Control() == nil):
		return "versus does not follow from spec.versus"
	case !slices.EqualFunc(s.OtherTargets, r.spec.RequestTargets(), func(a v1beta1.OtherTargetStatus, b v1beta1.OtherTarget) bool { return a.Name == b.Name }):
		return "otherTargets do not follow from spec.otherTargets"
	case r.hasStarted() && !s.KnowsTargets():
		return "targetURL is empty, but a step has begun" // no worker could be directed
	}
	return ""
}

// stepsInconsistency names what is wrong with the steps of a run under way. In a run that
// goes on after the loss of a worker, steps that are over may be cut.
func stepsInconsistency(steps []v1beta1.StepStatus, goesOn bool) string {
	under := v1beta1.StepComplete // the state of the step before
	for i := range steps {
		if goesOn && steps[i].State == v1beta1.StepCut && under == v1beta1.StepComplete {
			continue // by the loss of a worker
		}
		if problem := stepInconsistency(&steps[i], under); problem != "" {
			return fmt.Sprintf("steps[%d] %s", i, problem)
		}
		under = steps[i].State
	}
	return ""
}

// endedInconsistency names what is wrong with steps that must all have ended, since numbers
// are read after them.
func endedInconsistency(steps []v1beta1.StepStatus) string {
	for i := range steps {
		switch state := steps[i].State; state {
		case v1beta1.StepComplete, v1beta1.StepCut, v1beta1.StepSkipped:
		default:
			return fmt.Sprintf("steps[%d] is %s, but auditing is after the last step", i, state)
		}
	}
	return ""
}

// stepInconsistency names what is wrong with a step that follows a step in state before. A
// step is cut or skipped only by the write that ends the run, or its steps.
func stepInconsistency(s *v1beta1.StepStatus, before v1beta1.StepState) string {
	switch s.State {
	case v1beta1.StepPending:
	case v1beta1.StepRunning, v1beta1.StepComplete:
		switch {
		case before != v1beta1.StepComplete:
			return fmt.Sprintf("is %s, but the step before it is %s", s.State, before)
		case s.StartTime == nil:
			return fmt.Sprintf("is %s without a startTime", s.State)
		case s.State == v1beta1.StepComplete && s.CompletionTime == nil:
			return "is Complete without a completionTime"
		}
	default:
		return fmt.Sprintf("is in state %q, but the run is not finished", s.State)
	}
	switch {
	case s.Load.IsPause():
	case s.TimeLimit == nil:
		return "has no timeLimit"
	case s.Load.Duration == nil && s.Load.MaxDuration == nil:
		return "has no duration"
	}
	return ""
}
