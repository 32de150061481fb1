package lifecycle

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
)

// goesOn says whether the run goes on when a worker is lost.
func (r *run) goesOn() bool {
	return r.spec.Worker != nil && r.spec.Worker.OnLoss == v1alpha1.LossContinue
}

// lossStops says whether so many workers are lost that no further step begins.
func (r *run) lossStops() bool {
	w := r.out.Status.Workers
	return w.Lost > 0 && (!r.goesOn() || w.Lost >= w.Desired)
}

// isCutByLoss says whether step i is cut by the loss of workers alone, and the run goes on
// with the others: they carried their shares out.
func (r *run) isCutByLoss(i int, report *exchange.Report) bool {
	return r.goesOn() && r.out.Status.Workers.Lost > 0 && results.RestCarriedOut(&r.out.Status.Steps[i], r.workers, report, func(n int) bool {
		w := r.workers[n]
		return r.leaves(w) || !w.Final // given up
	})
}

// gone are the workers that are certain to send nothing of a step that begins from now on:
// they have ended.
func (r *run) gone() []int32 {
	if !r.goesOn() {
		return nil
	}
	var list []int32
	for n, w := range r.workers {
		if r.isLost(w) {
			list = append(list, int32(n))
		}
	}
	return list
}
