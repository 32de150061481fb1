package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// compareDescriptors marks workers as not ready whose descriptors differ from the first ready
// worker's: together they would send a mix of two tests. Descriptors differ if the target's
// replicas do, as in the middle of a rollout, or if the given ones are changed while pods
// start.
func (r *starting) compareDescriptors(workers []exchange.Worker) {
	toTarget, toControl := plan.HasCalls(r.spec)
	first := -1
	for i := range workers {
		w := &workers[i]
		switch {
		case !w.Ready:
		case toTarget && w.Descriptors == "" || toControl && w.ControlDescriptors == "":
			w.Ready, w.Reason = false, v1beta1.ReasonInvalidSpec
			w.Message = "grpc: the worker does not report by which descriptors it encodes calls; use a worker image of the operator's version"
		case first < 0:
			first = i
		case toTarget && w.Descriptors != workers[first].Descriptors:
			w.Ready, w.Reason = false, v1beta1.ReasonDescriptorsDiffer
			w.Message = differ("target.grpc", &r.spec.Target, first, i, workers[first].Descriptors, w.Descriptors)
		case toControl && w.ControlDescriptors != workers[first].ControlDescriptors:
			w.Ready, w.Reason = false, v1beta1.ReasonDescriptorsDiffer
			w.Message = differ("versus.target", r.spec.Control(), first, i, workers[first].ControlDescriptors, w.ControlDescriptors)
		}
	}
}

// shortDigest is the length of the part of a digest that a message shows.
const shortDigest = len("sha256:") + 12

func differ(field string, t *v1beta1.Target, first, other int, a, b string) string {
	why := "replicas of the target differ; wait until its rollout has ended, or set target.grpc.descriptorsFrom"
	if t.GRPC != nil && t.GRPC.DescriptorsFrom != nil {
		why = "the content of descriptorsFrom was changed while the workers started; create the LoadTest again"
	}
	return fmt.Sprintf("%s: worker %d encodes calls by descriptors %s, and worker %d by %s: %s",
		field, other, b[:shortDigest], first, a[:shortDigest], why)
}

// recordDescriptors writes by which descriptors all workers encode, as the first step begins.
func (r *starting) recordDescriptors() {
	s, first := &r.out.Status, r.workers[0]
	toTarget, toControl := plan.HasCalls(r.spec)
	if toTarget {
		s.Descriptors = first.Descriptors
	}
	if toControl {
		s.Versus.Descriptors = first.ControlDescriptors
	}
}
