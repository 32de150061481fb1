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

// isUndirected says whether perhaps no worker was directed to begin step i: this process has
// directed none, and none has said that it is in the step. The process that chose the instant
// may have ended before it directed workers. A worker that was directed is in the step, and says
// so when it connects, though the instant may not have come.
func (r *inputs) isUndirected(i int) bool {
	s := &r.read.Steps[i]
	begun := s.ReportedUntil != nil || r.seen.Step != nil && r.seen.Step.Step == int32(i) || slices.ContainsFunc(r.seen.Workers, func(w exchange.Worker) bool { return int(w.Begun) > i })
	return r.seen.Undirected && !begun && r.read.Internal.StopTime == nil
}

// lateness is the time since the instant of step i.
func (r *inputs) lateness(i int) time.Duration { return r.now.Sub(r.read.Steps[i].StartTime.Time) }

// beginTogether directs the workers to begin step i, once every worker is connected and ready:
// one that had been directed by another process would have said so by then. Until then no worker
// is directed, since one that connects after the instant would begin the step late. If the instant
// has passed, another is chosen instead, and no worker knows of the first.
func (r *running) beginTogether(i int) {
	start := r.out.Directive.Start
	r.out.Directive.Start = nil
	switch late := r.lateness(i); {
	case late > 0 && r.gather(i, hasReported):
		r.startStep(i, r.now.Add(r.leadAfter(late)))
	case late <= 0 && r.areHere(i, hasReported):
		r.out.Directive.Start = start
		inOrder(r.loadStep(i, r.reportOf(i)), loadPhases)
	}
}

// leadAfter is the lead of an instant that replaces one which was missed by late. It is more than
// twice as long as what the API server took of that to bring the write back, so that one which is
// slow does not delay the step for ever. The time in which workers were waited for does not count.
func (r *inputs) leadAfter(late time.Duration) time.Duration {
	return max(r.lead(), minLead+2*min(late, r.seen.ReadBack))
}

// gather waits until every worker can be directed to begin step i. It waits for a worker that
// is not here as long as the step may take, and gives it up then.
func (r *running) gather(i int, isHere func(exchange.Worker) bool) (gathered bool) {
	r.giveUp(func(w exchange.Worker) bool { return !isHere(w) && !r.now.Before(r.awaitedUntil(i, w)) })
	if s := &r.out.Status; r.lossStops() {
		if s.Steps[i].State == v1beta1.StepRunning { // some may have begun it
			r.loadStep(i, nil).countMissing()
			r.endStep(i, v1beta1.StepCut)
			i++
		}
		r.finish(i, v1beta1.ReasonStoppedOnWorkerLoss)
		return false
	}
	return r.areHere(i, isHere)
}

// areHere says whether no worker is waited for any more before step i, and else asks for a pass when
// one no longer is.
func (r *running) areHere(i int, isHere func(exchange.Worker) bool) bool {
	return count(r.seen.Workers, func(w exchange.Worker) bool {
		return !isHere(w) && !r.leaves(w) && r.waitUntil(r.awaitedUntil(i, w), w)
	}) == 0
}

// awaitedUntil is the instant until which a worker that is not here is waited for before step i.
func (r *running) awaitedUntil(i int, w exchange.Worker) time.Time {
	length := lengthOf(&r.out.Status.Steps[i])
	if w.Connected {
		return r.since().Add(length)
	}
	return r.absentSince(w).Add(length)
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
