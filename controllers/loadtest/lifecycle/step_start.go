package lifecycle

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// beginFirstStep begins the first step once all workers are ready and the numbers of the
// audits were read.
func (r *starting) beginFirstStep() (goesOn bool) {
	if r.wait.status != metav1.ConditionTrue {
		return true
	}
	at, ok := r.mayBegin()
	if ok && r.makeAudits(v1beta1.AuditBefore, "") {
		r.recordDescriptors()
		r.startStep(0, at)
	}
	return false
}

// startAfter is the instant at which step i, which is not the first, begins: exactly the end
// of a pause before it, or else the earliest by which all workers can have received it and the
// store can take its end.
func (r *running) startAfter(i int) time.Time {
	steps, soonest := r.out.Status.Steps, r.now
	if !steps[i].Load.IsPause() {
		soonest = r.now.Add(r.lead())
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

// isTooLate says whether step i would begin late: its instant has passed, and perhaps no
// worker was directed to begin it. The process that chose the instant may have ended before
// it directed workers, if the instant passed before this process directed the run. And this
// process has directed no worker, if it read its own write back late.
func (r *inputs) isTooLate(i int) bool {
	s := &r.read.Steps[i]
	late := s.StartTime.Time.Before(r.since()) || r.seen.Undirected && r.lateness(i) > 0
	begun := s.ReportedUntil != nil || r.seen.Step != nil && r.seen.Step.Step == int32(i) || slices.ContainsFunc(r.seen.Workers, func(w exchange.Worker) bool { return int(w.Begun) > i })
	return late && !begun && r.read.Internal.StopTime == nil
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
	if !r.read.Steps[i].StartTime.Time.Before(r.since()) {
		ahead = max(ahead, minLead+2*r.lateness(i))
	}
	r.startStep(i, r.now.Add(ahead))
}

// gather waits until every worker can be directed to begin step i. It waits for a worker that
// is not here as long as the step may take, and gives it up then.
func (r *running) gather(i int, isHere func(exchange.Worker) bool) (gathered bool) {
	limit := func(w exchange.Worker) time.Time {
		if w.Connected {
			return r.since().Add(lengthOf(&r.out.Status.Steps[i]))
		}
		return r.absentSince(w).Add(lengthOf(&r.out.Status.Steps[i]))
	}
	r.giveUp(func(w exchange.Worker) bool { return !isHere(w) && !r.now.Before(limit(w)) })
	if s := &r.out.Status; r.lossStops() {
		if s.Steps[i].State == v1beta1.StepRunning { // some may have begun it
			r.loadStep(i, nil).countMissing()
			r.endStep(i, v1beta1.StepCut)
			i++
		}
		r.finish(i, v1beta1.ReasonStoppedOnWorkerLoss)
		return false
	}
	return count(r.seen.Workers, func(w exchange.Worker) bool { return !isHere(w) && !r.leaves(w) && r.waitUntil(limit(w), w) }) == 0
}

func isConnected(w exchange.Worker) bool { return w.Connected }

// hasReported says whether a worker has sent all that it measured to this process: it says
// that it is ready afterwards.
func hasReported(w exchange.Worker) bool { return w.Connected && w.Ready }

// startStep writes that step i begins at an instant. Workers are directed to begin it once
// that was read back.
func (r *pass) startStep(i int, at time.Time) {
	s := &r.out.Status
	start := metav1.NewMicroTime(at)
	s.Steps[i].State = v1beta1.StepRunning
	s.Steps[i].StartTime = &start
	s.Phase = v1beta1.PhaseRunning
	r.resumed()
	if step := &s.Steps[i]; step.Load.IsPause() {
		r.wake(endOf(step).Add(-r.lead()))
	} else {
		r.wake(endOf(step))
	}
}
