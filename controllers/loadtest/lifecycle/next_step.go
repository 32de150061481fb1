package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
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
		r.finishCut()
	case r.lossStops():
		r.finish(i, v1beta1.ReasonStoppedOnWorkerLoss)
	case r.spec.Suspend:
		s.Phase = v1beta1.PhaseSuspended
		r.suspended(v1beta1.ReasonSuspended, fmt.Sprintf("The run is held before step %s; its workers wait.", s.Steps[i].Name))
	case !s.Steps[i].Load.IsPause() && !r.gather(i, isConnected):
	default:
		s.Internal.GoneWorkers = r.gone()
		r.startStep(i, r.startAfter(i))
	}
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
	if length == nil {
		return 0
	}
	return length.Duration
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
