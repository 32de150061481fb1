package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// since is when this process first directed the run, or now.
func (r *run) since() time.Time {
	if r.seen.Since.IsZero() {
		return r.now
	}
	return r.seen.Since
}

func (r *run) isLost(w exchange.Worker) bool { return isLost(w, r.seen.Job) }

// leaves says whether the worker counts as lost although it may still report: it
// ended its step by itself, or its pod is being deleted.
func (r *run) leaves(w exchange.Worker) bool { return w.Cut || w.PodEnding || r.isLost(w) }

// whyLost is what is known of why a worker is lost; empty: nothing.
func whyLost(w exchange.Worker) string {
	why := ""
	if w.PodEnding || w.Pod == exchange.PodEnded {
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

// absentSince is from when on the worker has had no session, as far as this process
// can know.
func (r *run) absentSince(w exchange.Worker) time.Time { return later(w.LastSeen, r.since()) }

// isSilent says whether the worker has no session and may come back.
func (r *run) isSilent(w exchange.Worker) bool {
	return !w.Connected && !r.leaves(w) && !r.now.Before(r.absentSince(w).Add(silentAfter))
}

// awaits says whether a worker is still waited for, and asks for a pass when not.
func (r *run) awaits(w exchange.Worker, limit time.Time) bool {
	if !r.now.Before(limit) {
		return false
	}
	r.wake(limit)
	if soon := r.absentSince(w).Add(silentAfter); !w.Connected && r.now.Before(soon) {
		r.wake(soon)
	}
	return true
}

// countWorkers counts those that are ready, silent and lost. Before this process has
// directed the run, only their pods are known.
func (r *run) countWorkers() {
	c := &r.out.Status.Workers
	c.Lost = count(r.workers, r.leaves)
	if r.seen.Since.IsZero() {
		return
	}
	c.Silent = count(r.workers, r.isSilent)
	c.Ready = count(r.workers, func(w exchange.Worker) bool { return w.Connected && w.Ready && !r.leaves(w) })
}

// giveUp counts as lost those workers for which f holds, too: they are waited for no
// longer.
func (r *run) giveUp(f func(exchange.Worker) bool) {
	given := count(r.workers, func(w exchange.Worker) bool { return !r.leaves(w) && f(w) })
	if given == 0 {
		return
	}
	c := &r.out.Status.Workers
	c.Lost += given
	c.Silent = count(r.workers, func(w exchange.Worker) bool { return r.isSilent(w) && !f(w) })
	r.workersCondition()
}

// gathered says whether every worker can be directed to begin step i. One that is not
// here is waited for as long as the step may take, and given up then.
func (r *run) gathered(i int, isHere func(exchange.Worker) bool) bool {
	limit := func(w exchange.Worker) time.Time {
		if w.Connected {
			return r.since().Add(lengthOf(&r.out.Status.Steps[i]))
		}
		return r.absentSince(w).Add(lengthOf(&r.out.Status.Steps[i]))
	}
	r.giveUp(func(w exchange.Worker) bool { return !isHere(w) && !r.now.Before(limit(w)) })
	if s := &r.out.Status; r.lossStops() {
		if s.Steps[i].State == v1alpha1.StepRunning { // some may have begun it
			s.Steps[i].MissingAtMost = r.missingAtMost(i, nil)
			r.countStored(i, nil)
			r.done(i, v1alpha1.StepCut)
			i++
		}
		r.finish(i, v1alpha1.ReasonStoppedOnWorkerLoss)
		return false
	}
	return count(r.workers, func(w exchange.Worker) bool { return !isHere(w) && !r.leaves(w) && r.awaits(w, limit(w)) }) == 0
}

func isConnected(w exchange.Worker) bool { return w.Connected }

// hasReported says whether a worker has sent all that it measured to this process: its
// readiness comes after it.
func hasReported(w exchange.Worker) bool { return w.Connected && w.Ready }

// workersCondition says how many workers are lost or silent. It is said when it
// happens: later passes can say less of it, as the pod that ended is gone by then, and
// another process cannot say since when a worker is silent.
func (r *run) workersCondition() {
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

func (r *run) workersMissing(reason, message string) {
	r.warn(reason, message)
	r.set(v1alpha1.ConditionWorkersReady, metav1.ConditionFalse, reason, message)
}

func (r *run) lossMessage() string {
	c := r.out.Status.Workers
	for n, w := range r.workers {
		if why := whyLost(w); why != "" {
			return fmt.Sprintf("%d of %s lost; worker %d: %s", c.Lost, workers(c.Desired), n, sentence(why))
		}
	}
	return fmt.Sprintf("%d of %s lost.", c.Lost, workers(c.Desired))
}

func (r *run) silenceMessage() string {
	c, first := r.out.Status.Workers, r.now
	for _, w := range r.workers {
		if r.isSilent(w) {
			first = earlier(first, r.absentSince(w))
		}
	}
	return fmt.Sprintf("%d of %s silent, since %s: not connected, while the pod runs. What it measures is waited for until the step's time limit.", c.Silent, workers(c.Desired), clock(first))
}
