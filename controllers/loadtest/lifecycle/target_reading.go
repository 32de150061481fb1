package lifecycle

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

// Look asks for a reading of the pods behind the target of a step, once workers are directed.
// The next pass sees what was found; if nothing was, the run goes on without it.
type Look = targetstate.Look

// environment is that of a run that begins; nil: its target is not read.
func (r *inputs) environment() *v1beta1.EnvironmentStatus {
	if !r.seen.LooksAtTargets || r.spec.Target.Service == nil {
		return nil
	}
	return &v1beta1.EnvironmentStatus{Usage: r.seen.SamplesUsage}
}

// readTargetBefore requests a reading of the step's target at its start; nothing waits for
// it.
func (r *loading) readTargetBefore() (goesOn bool) {
	if step := r.step(); r.out.Status.Environment != nil && !r.isOfNoService(step) && step.Environment == nil {
		r.readTarget(targetstate.Before)
	}
	return true
}

// readTargetAfter requests a reading of the step's target once all its reports are in, and
// waits for it. The step ends with what was read, or without.
func (r *loading) readTargetAfter() (goesOn bool) {
	if !r.done || r.out.Status.Environment == nil || r.isOfNoService(r.step()) || r.readTarget(targetstate.After) {
		return true
	}
	r.wake(r.now)
	return false
}

// readTarget records a reading if it was made, and else requests it.
func (r *loading) readTarget(point targetstate.Point) (recorded bool) {
	wanted := Look{Step: r.i, Point: point}
	if seen := r.seen.Looked; seen == nil || seen.Look != wanted {
		r.out.Look = &wanted
		return false
	}
	var nodes []string
	for _, w := range r.seen.Workers {
		nodes = append(nodes, w.Node)
	}
	targetstate.Record(&r.out.Status, r.seen.Looked, nodes)
	return true
}

// isOfNoService says whether a step is sent to a URL.
func (r *inputs) isOfNoService(step *v1beta1.StepStatus) bool {
	return LookedAt(r.spec, step) == nil
}

// LookedAt is the Service to which a step is sent; nil: it is a URL.
func LookedAt(spec *v1beta1.LoadTestSpec, step *v1beta1.StepStatus) *v1beta1.ServiceReference {
	if c := spec.Control(); c != nil && step.Side == v1beta1.SideControl {
		return c.Service
	}
	return spec.Target.Service
}
