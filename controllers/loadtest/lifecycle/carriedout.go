package lifecycle

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// settleLoad ends step i, whose last report is in or given up. It is complete if it
// was carried out as it was planned.
func (r *run) settleLoad(i int, report *exchange.Report) {
	step := &r.out.Status.Steps[i]
	if step.Message = results.NotCarriedOut(step, r.workers, report); step.Message == "" {
		r.done(i, v1alpha1.StepComplete)
		return
	}
	step.Coverage = results.Coverage(step)
	r.done(i, v1alpha1.StepCut)
}

// missingAtMost is the most requests that were sent in step i and are not in its
// result; nil if no worker was lost in it, or if no bound is known.
func (r *run) missingAtMost(i int, report *exchange.Report) *int64 {
	bound, certain, known := r.sentAtMost(i, report)
	switch {
	case certain && len(r.out.Status.GoneWorkers) > 0:
		return new(int64) // less was sent than planned, and all of it is there
	case certain || !known:
		return nil
	}
	if result := r.out.Status.Steps[i].Result; result != nil {
		bound -= result.Sent
	}
	return ptr.To(max(0, bound))
}

// sentAtMost is the most requests that the target was sent in step i. certain says that
// each worker has said how many it sent, known that there is a bound.
//
// A worker w of W counts a request before it sends it, and sends none that is not in
// its share P(w) of the plan. Its final snapshot counts all that it sent, F(w): it
// sends nothing afterwards. So the target was sent at most
//
//	B = sum of F(w) over the workers whose final snapshot is here
//	  + sum of P(w) over the others
//
// whatever became of these: they may have sent their whole share unseen. A result that
// counts S requests, each of which was sent, lacks at most B - S.
// How many the snapshots of the others say were due is of no use: what was not due by
// then may have been sent later. A worker that was gone before the step sent nothing.
func (r *run) sentAtMost(i int, report *exchange.Report) (bound int64, certain, known bool) {
	step, workers := &r.out.Status.Steps[i], r.workers
	certain = true
	for n, w := range workers {
		if !w.Reported && slices.Contains(r.out.Status.GoneWorkers, int32(n)) {
			continue
		}
		if report != nil && w.Final {
			certain = certain && !r.leaves(w)
			bound += w.Sent
			continue
		}
		share, planned := plan.Requests(&step.Load, int32(n), int32(len(workers)))
		if !planned {
			return 0, false, false
		}
		certain = false
		bound += max(share, w.Sent)
	}
	return bound, certain, true
}
