package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// next starts step i, holds before it, or ends the run.
func (r *running) next(i int) {
	s := &r.out.Status
	if i >= len(s.Steps) && !r.appendProbe() {
		r.finish(i, v1alpha1.ReasonAllStepsRan)
		return
	}
	s.CurrentStep = int32(i)
	switch {
	case r.out.Status.StopTime != nil:
		r.finishCut()
	case r.lossStops():
		r.finish(i, v1alpha1.ReasonStoppedOnWorkerLoss)
	case r.spec.Suspend:
		s.Phase = v1alpha1.PhaseSuspended
		r.suspended(v1alpha1.ReasonSuspended, fmt.Sprintf("The run is held before step %s; its workers wait.", s.Steps[i].Name))
	case !s.Steps[i].Load.IsPause() && !r.gather(i, isConnected):
	default:
		s.GoneWorkers = r.gone()
		r.startStep(i, r.startAfter(i))
	}
}

// isTooLate says whether step i would begin late: its instant has passed, and perhaps no
// worker was directed to begin it. The process that chose the instant may have ended before
// it directed workers, if the instant passed before this process directed the run. And this
// process has directed no worker, if it read its own write back late.
func (r *inputs) isTooLate(i int) bool {
	s := &r.read.Steps[i]
	late := s.StartTime.Time.Before(r.since()) || r.seen.Undirected && r.lateness(i) > 0
	begun := s.ReportedUntil != nil || r.seen.Step != nil && r.seen.Step.Step == int32(i) || slices.ContainsFunc(r.seen.Workers, func(w exchange.Worker) bool { return int(w.Begun) > i })
	return late && !begun && r.read.StopTime == nil
}

// lateness is the time since the instant of step i.
func (r *inputs) lateness(i int) time.Duration { return r.now.Sub(r.read.Steps[i].StartTime.Time) }

// startAnew chooses another start instant for step i, once every worker is connected and
// ready: a worker that had begun the step by the first instant would have said so by then.
// Until then no worker is directed to begin it.
//
// The new instant is ahead by more than twice the time by which the last one was missed, so
// that an API server that is slow to bring back a write does not delay the step for ever.
func (r *running) startAnew(i int) {
	r.out.Directive.Start = nil
	if !r.gather(i, hasReported) {
		return
	}
	ahead := r.lead()
	if r.seen.Undirected && !r.read.Steps[i].StartTime.Time.Before(r.since()) {
		ahead = max(ahead, minLead+2*r.lateness(i))
	}
	r.startStep(i, r.now.Add(ahead))
}

// startAfter is the instant at which step i begins: exactly the end of a pause before it, or
// else the earliest by which all workers can have received it and the store can take its
// end.
func (r *running) startAfter(i int) time.Time {
	steps, soonest := r.out.Status.Steps, r.now
	if !steps[i].Load.IsPause() {
		soonest = r.now.Add(r.lead())
	}
	if i == 0 {
		return soonest
	}
	if !steps[i].Load.IsPause() {
		soonest = instant.Later(soonest, r.affordable(&steps[i]))
	}
	before := &steps[i-1]
	if !before.Load.IsPause() || before.StartTime == nil {
		return soonest
	}
	return instant.Later(endOf(before), soonest)
}

// startStep writes that step i begins at an instant. Workers are directed to begin it once
// that was read back.
func (r *pass) startStep(i int, at time.Time) {
	s := &r.out.Status
	start := metav1.NewMicroTime(at)
	s.Steps[i].State = v1alpha1.StepRunning
	s.Steps[i].StartTime = &start
	s.Phase = v1alpha1.PhaseRunning
	r.resumed()
	if step := &s.Steps[i]; step.Load.IsPause() {
		r.wake(endOf(step).Add(-r.lead()))
	} else {
		r.wake(endOf(step))
	}
}

// endOf is the latest end of a step that has begun, and the exact end of a pause.
func endOf(s *v1alpha1.StepStatus) time.Time {
	return s.StartTime.Add(lengthOf(s))
}

// lengthOf is the longest time that a step takes, and the exact time of a pause.
func lengthOf(s *v1alpha1.StepStatus) time.Duration {
	length := s.TimeLimit
	if s.Load.IsPause() {
		length = s.Load.Pause
	}
	if length == nil {
		return 0
	}
	return length.Duration
}

func (r *pass) endStep(i int, state v1alpha1.StepState) {
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
		r.out.Status.Steps[i].State = v1alpha1.StepSkipped
	}
}
