package lifecycle

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// countMissing writes how many requests the step's result may lack, into the step and into
// the audits.
func (r *loading) countMissing() {
	r.step().MissingAtMost = r.missingAtMost()
	r.countStored()
}

// missingAtMost bounds how many requests were sent in the step and are not in its result;
// nil if no worker was lost in it, or if no bound is known.
func (r *loading) missingAtMost() *int64 {
	bound, certain, known := r.sentAtMost()
	switch {
	case certain && len(r.out.Status.Internal.GoneWorkers) > 0:
		return new(int64) // less was sent than planned, and all of it is there
	case certain || !known:
		return nil
	}
	if result := r.step().Result; result != nil {
		bound -= result.Sent
	}
	return ptr.To(max(0, bound))
}

// sentAtMost bounds how many requests the target was sent in the step. certain says that
// each worker has said how many it sent, known that there is a bound.
//
// A worker w of W counts a request before it sends it, and sends only requests of its share
// P(w) of the plan. Its final snapshot counts all that it sent, F(w): it sends nothing
// afterwards. So the target was sent at most
//
//	B = sum of F(w) over the workers whose final snapshot is here
//	  + sum of P(w) over the others
//
// whatever became of the others: they may have sent their whole share unseen. A result that
// counts S requests, each of which was sent, lacks at most B - S.
// The other workers' snapshots do not help: a request that was not due by then may have
// been sent later. A worker that was gone before the step sent nothing.
func (r *loading) sentAtMost() (bound int64, certain, known bool) {
	step, report, workers := r.step(), r.report, r.seen.Workers
	certain = true
	for n, w := range workers {
		if !w.Reported && slices.Contains(r.out.Status.Internal.GoneWorkers, int32(n)) {
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
