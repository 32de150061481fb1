package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// since is the instant at which this process first directed the run; now, if it has not.
func (r *inputs) since() time.Time {
	if r.seen.Since.IsZero() {
		return r.now
	}
	return r.seen.Since
}

// absentSince is the instant from which the worker has had no session, as far as this process
// can know.
func (r *inputs) absentSince(w exchange.Worker) time.Time {
	return instant.Later(w.LastSeen, r.since())
}

// isSilent says whether the worker has no session and may come back.
func (r *inputs) isSilent(w exchange.Worker) bool {
	return !w.Connected && !r.leaves(w) && !r.now.Before(r.absentSince(w).Add(silentAfter))
}

// waitUntil waits for a worker until a limit, and asks for a pass then. It reports whether the
// limit lies ahead.
func (r *running) waitUntil(limit time.Time, w exchange.Worker) (waits bool) {
	if !r.now.Before(limit) {
		return false
	}
	r.wake(limit)
	if soon := r.absentSince(w).Add(silentAfter); !w.Connected && r.now.Before(soon) {
		r.wake(soon)
	}
	return true
}

// countWorkers counts the workers that are ready, silent and lost. Before this process has
// directed the run, only their pods are known.
func (r *running) countWorkers() (goesOn bool) {
	c := &r.out.Status.Workers
	c.Lost = count(r.seen.Workers, r.leaves)
	if r.seen.Since.IsZero() {
		return true
	}
	c.Silent = count(r.seen.Workers, r.isSilent)
	c.Ready = count(r.seen.Workers, func(w exchange.Worker) bool { return w.Connected && w.Ready && !r.leaves(w) })
	return true
}

// reportWorkers writes the condition from the counts.
func (r *running) reportWorkers() (goesOn bool) {
	r.workersCondition()
	return true
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
		if s.Steps[i].State == v1alpha1.StepRunning { // some may have begun it
			r.loadStep(i, nil).countMissing()
			r.endStep(i, v1alpha1.StepCut)
			i++
		}
		r.finish(i, v1alpha1.ReasonStoppedOnWorkerLoss)
		return false
	}
	return count(r.seen.Workers, func(w exchange.Worker) bool { return !isHere(w) && !r.leaves(w) && r.waitUntil(limit(w), w) }) == 0
}

func isConnected(w exchange.Worker) bool { return w.Connected }

// hasReported says whether a worker has sent all that it measured to this process: it says
// that it is ready afterwards.
func hasReported(w exchange.Worker) bool { return w.Connected && w.Ready }

// workersCondition writes how many workers are lost or silent, when it happens: later passes
// know less, as the pod that ended is gone by then, and another process does not know since
// when a worker is silent.
func (r *pass) workersCondition() {
	now, read := r.out.Status.Workers, r.read.Workers
	switch {
	case now.Lost > 0 && now.Lost != read.Lost:
		r.workersMissing(v1alpha1.ReasonWorkerLost, r.lossMessage())
	case now.Lost == 0 && now.Silent > 0 && now.Silent != read.Silent:
		r.workersMissing(v1alpha1.ReasonWorkerSilent, r.silenceMessage())
	case now.Lost == 0 && now.Silent == 0:
		r.set(v1alpha1.ConditionWorkersReady, metav1.ConditionTrue, v1alpha1.ReasonAllReady, fmt.Sprintf("All %s ready.", workers(now.Desired)))
	}
}

func (r *pass) workersMissing(reason, message string) {
	r.warn(reason, message)
	r.set(v1alpha1.ConditionWorkersReady, metav1.ConditionFalse, reason, message)
}

func (r *pass) silenceMessage() string {
	c, first := r.out.Status.Workers, r.now
	for _, w := range r.workers {
		if r.isSilent(w) {
			first = instant.Earlier(first, r.absentSince(w))
		}
	}
	return fmt.Sprintf("%d of %s silent since %s: the pod runs, but the worker is not connected. The run waits for its measurements until the step's time limit.", c.Silent, workers(c.Desired), text.Clock(first))
}
