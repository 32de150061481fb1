package results

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// CompleteSteps are the steps of a run with incomplete results removed: those of steps
// that have not ended or were cut, in which the target was changed, that a worker has not
// reported, and of the one in which a worker was lost: the last that began, unless the
// run goes on with the workers that are left, by which every step from then on is cut.
func CompleteSteps(status *v1beta1.LoadTestStatus) []v1beta1.StepStatus {
	steps := slices.Clone(status.Steps)
	lost := status.Workers.Lost > 0
	for i := range slices.Backward(steps) {
		s := &steps[i]
		if lost || s.State != v1beta1.StepComplete || s.WorkersReporting < status.Workers.Desired || s.TargetChanged() {
			s.Result = nil
		}
		begun := s.State != v1beta1.StepPending && s.State != v1beta1.StepSkipped
		lost = lost && !begun
	}
	return steps
}
