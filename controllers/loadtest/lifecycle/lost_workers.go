package lifecycle

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
)

// isLost says, of a run that has begun, whether the worker cannot report any more.
// Every worker had a pod then, so that an absent one was deleted. A worker whose pod
// runs and that has no session is silent: it measures on, and may come back.
func (r *inputs) isLost(w exchange.Worker) bool {
	return w.Pod == exchange.PodEnded || w.Pod == exchange.PodAbsent || r.seen.Job == JobAbsent || r.seen.Job == JobFinished
}

// leaves says whether the worker counts as lost although it may still report: it
// ended its step by itself, or its pod is being deleted.
func (r *inputs) leaves(w exchange.Worker) bool { return w.Cut || w.PodEnding || r.isLost(w) }

// giveUp also counts the workers as lost for which f holds: the run waits for them no longer.
func (r *running) giveUp(f func(exchange.Worker) bool) {
	given := count(r.seen.Workers, func(w exchange.Worker) bool { return !r.leaves(w) && f(w) })
	if given == 0 {
		return
	}
	c := &r.out.Status.Workers
	c.Lost += given
	c.Silent = count(r.seen.Workers, func(w exchange.Worker) bool { return r.isSilent(w) && !f(w) })
	r.workersCondition()
}

// gone are the numbers of the workers that have ended, and certainly send nothing in a step
// that begins from now on.
func (r *running) gone() []int32 {
	var list []int32
	for n, w := range r.seen.Workers {
		if r.isLost(w) {
			list = append(list, int32(n))
		}
	}
	return list
}

// whyLost is the known cause of a worker's loss; empty: none is known.
func whyLost(w exchange.Worker) string {
	why := ""
	if w.PodEnding || w.PodTakenAway || w.Pod == exchange.PodEnded {
		why = w.PodMessage
	}
	switch {
	case !w.Cut:
		return why
	case why == "":
		return "had to end before its step was over"
	}
	return "had to end before its step was over: " + why
}

func (r *pass) lossMessage() string {
	c := r.out.Status.Workers
	for n, w := range r.workers {
		if why := whyLost(w); why != "" {
			return fmt.Sprintf("%d of %s lost; worker %d: %s", c.Lost, workers(c.Desired), n, sentence(why))
		}
	}
	return fmt.Sprintf("%d of %s lost.", c.Lost, workers(c.Desired))
}

// toleratesLoss says whether the run goes on when a worker is lost.
func (r *inputs) toleratesLoss() bool {
	return r.spec.Worker != nil && r.spec.Worker.OnLoss == v1beta1.LossContinue
}

// lossStops says whether so many workers are lost that no further step begins.
func (r *pass) lossStops() bool {
	w := r.out.Status.Workers
	return w.Lost > 0 && (!r.toleratesLoss() || w.Lost >= w.Desired)
}

// isCutByLoss says whether only the loss of workers cut the step, and the run goes on with
// the others, which carried their shares out.
func (r *loading) isCutByLoss() bool {
	return r.out.Status.Workers.Lost > 0 && results.RestCarriedOut(r.step(), r.seen.Workers, r.report, func(n int) bool {
		w := r.seen.Workers[n]
		return r.leaves(w) || !w.Final // given up
	})
}

// boundMissing gives up the workers whose reports are not in, and writes how many requests
// the result may lack at most, into the step and into the audits.
func (r *loading) boundMissing() (goesOn bool) {
	r.giveUp(func(w exchange.Worker) bool { return !r.isFinal(w) })
	r.countMissing()
	return true
}

// closeWithoutWorkers ends a run if no worker completed the step. What was measured, in it or
// before it, stands.
func (r *loading) closeWithoutWorkers() (goesOn bool) {
	if count(r.seen.Workers, r.isFinal) > 0 {
		return true
	}
	s := &r.out.Status
	if !slices.ContainsFunc(s.Steps, func(s v1beta1.StepStatus) bool { return s.Result != nil }) {
		r.fail(v1beta1.VerdictError, v1beta1.ReasonNoWorkers, fmt.Sprintf("Every worker was lost in step %s.", r.step().Name))
		return false
	}
	r.endStep(r.i, v1beta1.StepCut)
	r.finish(r.i+1, v1beta1.ReasonStoppedOnWorkerLoss)
	return false
}
