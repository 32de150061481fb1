package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// next starts step i, holds before it, or ends the run.
func (r *running) next(i int) {
	s := &r.out.Status
	if i >= len(s.Steps) && !r.appendProbe() {
		r.finish(i, v1beta1.ReasonAllStepsRan)
		return
	}
	s.CurrentStep = int32(i)
	switch {
	case r.out.Status.Internal.StopTime != nil:
		r.finishStopped(i)
	case r.lossStops():
		r.finish(i, v1beta1.ReasonStoppedOnWorkerLoss)
	case r.spec.Suspend:
		r.holdBefore(i)
	case !s.Steps[i].Load.IsPause() && !r.gather(i, isConnected):
	default:
		s.Internal.GoneWorkers = r.gone()
		r.startStep(i, r.startAfter(i))
	}
}

// holdBefore holds the run before step i, and ends it when it has been held for as long as one of
// its namespace may be: it keeps its workers, and its place among those that run.
func (r *running) holdBefore(i int) {
	s, since := &r.out.Status, r.now
	if c := meta.FindStatusCondition(r.read.Conditions, v1beta1.ConditionSuspended); c != nil && c.Status == metav1.ConditionTrue {
		since = c.LastTransitionTime.Time
	}
	if limit := r.rules.Limits.Held; limit > 0 {
		end := since.Add(limit)
		if !r.now.Before(end) {
			r.fail(v1beta1.VerdictCanceled, v1beta1.ReasonHeldTooLong, fmt.Sprintf("spec.suspend held the run before step %s for %s, as long as a run of namespace %s may be held with its workers. What was measured is kept.",
				s.Steps[i].Name, text.Short(limit), r.test.Namespace))
			return
		}
		r.wake(end)
	}
	s.Phase = v1beta1.PhaseSuspended
	r.suspended(v1beta1.ReasonSuspended, fmt.Sprintf("The run is held before step %s; its workers wait.", s.Steps[i].Name))
}

// endOf is the latest end of a step that has begun, and the exact end of a pause.
func endOf(s *v1beta1.StepStatus) time.Time {
	return s.StartTime.Add(lengthOf(s))
}

// lengthOf is the longest time that a step takes, and the exact time of a pause.
func lengthOf(s *v1beta1.StepStatus) time.Duration {
	length := s.TimeLimit
	if s.Load.IsPause() {
		length = s.Load.Pause
	}
	return v1beta1.OrZero(length)
}

func (r *pass) endStep(i int, state v1beta1.StepState) {
	now := metav1.NewMicroTime(r.now)
	step := &r.out.Status.Steps[i]
	step.State = state
	step.CompletionTime = &now
	if step.Result != nil {
		results.Settle(step.Result)
	}
	r.out.Status.Spread = results.Spread(results.CompleteSteps(&r.out.Status))
}

func (r *running) skipFrom(i int) {
	for ; i < len(r.out.Status.Steps); i++ {
		r.out.Status.Steps[i].State = v1beta1.StepSkipped
	}
}
