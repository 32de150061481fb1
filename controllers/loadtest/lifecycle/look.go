package lifecycle

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

// Look asks for the pods behind the target of a step to be read, once workers are
// directed. The next pass reads what was found; if that was nothing, the run goes on
// without it.
type Look = targetstate.Look

// looks says whether a run that is taken up has the target be read.
func (r *run) looks() bool {
	return r.seen.LooksAtTargets && r.spec.Target.Service != nil
}

// lookBefore has the target of step i be read as it begins, which is waited for by
// nothing.
func (r *run) lookBefore(i int) {
	step := &r.out.Status.Steps[i]
	if r.out.Status.Environment == nil || r.isOfNoService(step) || step.Environment != nil {
		return
	}
	r.look(Look{Step: i, Point: targetstate.Before})
}

// hasLookedAfter says whether the target of step i was read now that all reports of the
// step are in. The step ends with what was read, or without.
func (r *run) hasLookedAfter(i int) bool {
	step := &r.out.Status.Steps[i]
	if r.out.Status.Environment == nil || r.isOfNoService(step) {
		return true
	}
	if r.look(Look{Step: i, Point: targetstate.After}) {
		return true
	}
	r.wake(r.now)
	return false
}

// look records a reading, or asks for it.
func (r *run) look(wanted Look) bool {
	if seen := r.seen.Looked; seen == nil || seen.Look != wanted {
		r.out.Look = &wanted
		return false
	}
	var nodes []string
	for _, w := range r.workers {
		nodes = append(nodes, w.Node)
	}
	targetstate.Record(&r.out.Status, r.seen.Looked, nodes)
	return true
}

// isOfNoService says whether a step is sent to a URL.
func (r *run) isOfNoService(step *v1alpha1.StepStatus) bool {
	return LookedAt(r.spec, step) == nil
}

// LookedAt is the Service to which a step is sent; nil: it is a URL.
func LookedAt(spec *v1alpha1.LoadTestSpec, step *v1alpha1.StepStatus) *v1alpha1.ServiceReference {
	if step.Side == v1alpha1.SideControl && spec.Versus != nil {
		return spec.Versus.Target.Service
	}
	return spec.Target.Service
}
