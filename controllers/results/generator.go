package results

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

const (
	// tolerableLateness is how late the generator may always be: the lateness
	// from which a request counts as late.
	tolerableLateness = measure.LateAfter
	// tolerableShare is how large a part of the response time's p99 the
	// generator's lateness may be: 1/20. Response time is measured from when a
	// request was due, so lateness is part of it; beyond this it is the
	// generator's quantile more than the target's.
	tolerableShare = 20
)

// generator says how the generator fared. Only a schedule can be missed: a
// closed loop sends when it can, and has no lateness.
func generator(spec *v1alpha1.LoadTestSpec, step plan.Step, merged *measure.Step, response *measure.Histogram) *v1alpha1.GeneratorStatus {
	status := &v1alpha1.GeneratorStatus{Healthy: true, ConnectionsOpened: merged.ConnectionsOpened}
	late, ok := merged.Lateness.Quantile(0.99)
	if !ok {
		return status
	}
	status.SendLatenessP99 = rounded(late)
	if !step.Scheduled() || late <= tolerable(response) {
		return status
	}
	status.Healthy = false
	status.Message = fmt.Sprintf("Step %s sent requests up to %s (p99) after they were due by the generator's own fault; "+
		"use %d workers or more, or give each more CPU.",
		step.Name, Short(late), min(2*plan.Workers(spec), plan.MaxWorkers))
	return status
}

func tolerable(response *measure.Histogram) time.Duration {
	p99, ok := response.Quantile(0.99)
	if !ok {
		return tolerableLateness
	}
	return max(tolerableLateness, p99/tolerableShare)
}
