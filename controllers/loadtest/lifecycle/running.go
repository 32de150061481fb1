package lifecycle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// running is a pass over a run whose first step has begun. It carries the run from step to
// step.
type running struct{ *pass }

// runningPhases: countWorkers writes the counts of workers, and stopIfHeld and stopIfAsked
// write the instant from which the run is stopped; reportWorkers and followStep read them.
var runningPhases = []phase[*running]{
	(*running).wakeBeforeQuiet,
	(*running).finishAudits,
	(*running).grantAccess,
	(*running).countWorkers,
	(*running).reportWorkers,
	(*running).stopIfHeld,
	(*running).stopIfAsked,
	(*running).followStep,
}

// followStep goes on with the first step that is not over, by what was read.
func (r *running) followStep() (goesOn bool) {
	i := r.current()
	switch {
	case i == len(r.read.Steps), r.read.Steps[i].State != v1beta1.StepRunning:
		r.next(i) // held between two steps, or waiting for workers
	case r.read.Steps[i].Load.IsPause():
		r.pause(i)
	case r.isUndirected(i):
		r.beginTogether(i)
	default:
		inOrder(r.loadStep(i, r.reportOf(i)), loadPhases)
	}
	return true
}

// current is the first step that is not over.
func (r *inputs) current() int {
	i := slices.IndexFunc(r.read.Steps, func(s v1beta1.StepStatus) bool {
		return s.State == v1beta1.StepPending || s.State == v1beta1.StepRunning
	})
	if i < 0 {
		return len(r.read.Steps)
	}
	return i
}

// stopIfAsked writes the instant from which the run is being stopped, as the user wants it
// or its time is up. Before that, it asks for a pass when the time will be up.
func (r *running) stopIfAsked() (goesOn bool) {
	at, limited := deadline(r.read.StartTime.Time, r.spec.ActiveDeadlineSeconds)
	if r.out.Status.Internal.StopTime == nil && (r.spec.Terminate || limited && !r.now.Before(at)) {
		now := metav1.NewMicroTime(r.now)
		r.out.Status.Internal.StopTime = &now
	}
	if r.now.Before(at) {
		r.wake(at)
	}
	return true
}

// pause lets time pass; nothing is asked of the workers. The instant of the next step is
// chosen ahead, so that the pause is as long as it says.
func (r *running) pause(i int) {
	if r.read.Internal.StopTime != nil {
		r.endStep(i, v1beta1.StepCut)
		r.finishStopped(i + 1)
		return
	}
	if ahead := endOf(&r.read.Steps[i]).Add(-r.lead()); r.now.Before(ahead) {
		r.wake(ahead)
		return
	}
	r.endStep(i, v1beta1.StepComplete)
	r.next(i + 1)
}
