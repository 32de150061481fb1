package results

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
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
	// tolerableThrottling is for how large a part of its time a worker may be held
	// back: 1/100. What is held back is late or answered late, and a larger part
	// would reach into the p99.
	tolerableThrottling = 100
	// tolerableUnsent is how large a part of arrivals may remain unsent: 1/200.
	// Arrivals do not wait for replies, so whatever the target does, it is the
	// generator that did not send them.
	tolerableUnsent = 200
)

// fleet are the workers in one step.
type fleet struct {
	// active is how many have a share of the step.
	active int64
	// suggestedWorkers is how many would probably be enough: twice as many, for each then has half as
	// much to do.
	suggestedWorkers int32
}

func newFleet(workers int32, step *v1alpha1.StepStatus) fleet {
	f := fleet{active: int64(workers), suggestedWorkers: min(2*workers, workerv1.MaxWorkers)}
	if users := int64(step.Load.Users); users > 0 {
		f.active = min(f.active, users)
	} else if requests := step.Load.Requests; requests > 0 {
		f.active = min(f.active, requests)
	}
	return f
}

// time is that which the workers had together.
func (f fleet) time(window time.Duration) time.Duration {
	return time.Duration(f.active) * window
}

// generator says how the generator fared, and whether it was the limit.
func generator(workers fleet, step *v1alpha1.StepStatus, merged *measure.Measurement, response *measure.Histogram) *v1alpha1.GeneratorStatus {
	health := &merged.Health
	status := &v1alpha1.GeneratorStatus{
		Healthy:              true,
		Engine:               text.Truncate(merged.Engine, maxEngine),
		CPUThrottled:         format.Percent(int64(health.CPUThrottled), int64(workers.time(merged.Window))),
		ConnectionsOpened:    merged.ConnectionsOpened,
		ConnectionsReused:    merged.Reused,
		DescriptorsExhausted: health.DescriptorsExhausted,
		PortsExhausted:       health.PortsExhausted,
	}
	if p50, ok := merged.Lateness.Quantile(0.5); ok {
		status.SendLatenessP50 = rounded(p50)
	}
	if p99, ok := merged.Lateness.Quantile(0.99); ok {
		status.SendLatenessP99 = rounded(p99)
	}
	if merged.Lateness.Count() > 0 {
		status.SendLatenessMax = rounded(merged.Lateness.Max())
	}
	if health.CPU > 0 {
		status.CPUTime = &metav1.Duration{Duration: health.CPU.Round(time.Millisecond)}
	}
	if health.GCPauseMax > 0 {
		status.GCPauseMax = &metav1.Duration{Duration: health.GCPauseMax}
	}
	// From what explains most to what is explained by it: a request that could not
	// be sent is worse than a late one, and a worker that is held back is late.
	for _, rule := range []func() (reason, message string){
		func() (string, string) { return exhausted(step, health, workers) },
		func() (string, string) { return unsent(step, merged, workers) },
		func() (string, string) { return throttled(step, merged, workers) },
		func() (string, string) { return late(step, merged, workers, response) },
	} {
		if status.Reason, status.Message = rule(); status.Reason != "" {
			status.Healthy = false
			break
		}
	}
	return status
}

func exhausted(step *v1alpha1.StepStatus, health *measure.Health, workers fleet) (reason, message string) {
	const sentence = "In step %s a worker had no %s left for a connection (%d times in all); use %d workers or more."
	switch {
	case health.DescriptorsExhausted > 0:
		return v1alpha1.ReasonDescriptorsExhausted, fmt.Sprintf(sentence, step.Name, "file descriptor", health.DescriptorsExhausted, workers.suggestedWorkers)
	case health.PortsExhausted > 0:
		return v1alpha1.ReasonPortsExhausted, fmt.Sprintf(sentence, step.Name, "local port", health.PortsExhausted, workers.suggestedWorkers)
	}
	return "", ""
}

// unsent is about arrivals: a user that waits for a reply has good reason not to
// send.
func unsent(step *v1alpha1.StepStatus, merged *measure.Measurement, workers fleet) (reason, message string) {
	if step.Load.Users > 0 || merged.Unsent*tolerableUnsent <= merged.Due {
		return "", ""
	}
	return v1alpha1.ReasonScheduleLag, fmt.Sprintf("Step %s sent %s of the requests that were due; use %d workers or more, or give each more CPU.",
		step.Name, format.Percent(merged.Due-merged.Unsent, merged.Due), workers.suggestedWorkers)
}

// throttled is about the worker that fared worst: what it sent is in the merged
// quantiles, however well the others fared.
func throttled(step *v1alpha1.StepStatus, merged *measure.Measurement, workers fleet) (reason, message string) {
	worst := merged.Health.CPUThrottledMax
	if merged.Window <= 0 || worst <= merged.Window/tolerableThrottling {
		return "", ""
	}
	return v1alpha1.ReasonCPUThrottled, fmt.Sprintf("In step %s a worker was held back by its CPU limit for %s of the time; "+
		"raise spec.worker.resources.limits.cpu or leave it out, or use %d workers or more.",
		step.Name, format.Percent(int64(worst), int64(merged.Window)), workers.suggestedWorkers)
}

// late is about schedules: a closed loop sends when it can, and has none to miss.
func late(step *v1alpha1.StepStatus, merged *measure.Measurement, workers fleet, response *measure.Histogram) (reason, message string) {
	p99, ok := merged.Lateness.Quantile(0.99)
	if !ok || !step.Load.IsScheduled() || p99 <= tolerable(response) {
		return "", ""
	}
	return v1alpha1.ReasonScheduleLag, fmt.Sprintf("Step %s sent requests up to %s (p99) after they were due by the generator's own fault; "+
		"use %d workers or more, or give each more CPU.", step.Name, format.Short(p99), workers.suggestedWorkers)
}

func tolerable(response *measure.Histogram) time.Duration {
	p99, ok := response.Quantile(0.99)
	if !ok {
		return tolerableLateness
	}
	return max(tolerableLateness, p99/tolerableShare)
}
