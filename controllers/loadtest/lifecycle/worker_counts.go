package lifecycle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

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

// workersCondition writes how many workers are lost or silent, when it happens: later passes
// know less, as the pod that ended is gone by then, and another process does not know since
// when a worker is silent.
func (r *pass) workersCondition() {
	now, read := r.out.Status.Workers, r.read.Workers
	switch {
	case now.Lost > 0 && now.Lost != read.Lost:
		r.workersMissing(v1beta1.ReasonWorkerLost, r.lossMessage())
	case now.Lost == 0 && now.Silent > 0 && now.Silent != read.Silent:
		r.workersMissing(v1beta1.ReasonWorkerSilent, r.silenceMessage())
	case now.Lost == 0 && now.Silent == 0:
		r.set(v1beta1.ConditionWorkersReady, metav1.ConditionTrue, v1beta1.ReasonAllReady, fmt.Sprintf("All %s ready.", workers(now.Desired)))
	}
}

func (r *pass) workersMissing(reason, message string) {
	r.warn(reason, message)
	r.set(v1beta1.ConditionWorkersReady, metav1.ConditionFalse, reason, message)
}
