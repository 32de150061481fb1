package results

import (
	"fmt"
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// cpuStep is to what a quantity of CPU is rounded up: 50m.
const cpuStep = 0.05

// hindered is what kept a worker from running for a notable part of the window, and what to
// change; it is empty if nothing did. What explains most comes first: a worker that its CPU
// limit holds back also waits and stands still, on however idle a node.
func hindered(merged *measure.Measurement, workers fleet) (reason, why, advice string) {
	h, window := &merged.Health, merged.Window
	most := window / tolerableWait
	switch {
	case window <= 0:
		return "", "", ""
	case h.CPUThrottledMax > window/tolerableThrottling:
		return v1alpha1.ReasonCPUThrottled,
			fmt.Sprintf("a worker was held back by its CPU limit for %s of the time", format.Percent(int64(h.CPUThrottledMax), int64(window))),
			raiseLimit(workers.usedEach(h.CPU), window-h.CPUThrottledMax)
	case h.RunQueueWaitMax > most:
		return v1alpha1.ReasonNodeBusy,
			fmt.Sprintf("a worker's threads waited for a processor for %s of the time, because its node is busy", format.Percent(int64(h.RunQueueWaitMax), int64(window))),
			requestCPU(workers.usedEach(h.CPU)+h.RunQueueWaitMax, window)
	case h.StalledMax > most:
		return v1alpha1.ReasonNodeBusy,
			fmt.Sprintf("a worker stood still for %s, because it was stopped or its node is busy", format.Short(h.StalledMax)),
			"Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help."
	}
	return "", "", ""
}

// raiseLimit is the limit under which no worker is held back: what each used in the time for
// which it ran, so that it may use as much all the time.
func raiseLimit(used, ran time.Duration) string {
	if used <= 0 || ran <= 0 {
		return "Raise spec.worker.resources.limits.cpu, or leave it out."
	}
	return fmt.Sprintf("Raise spec.worker.resources.limits.cpu to %s, or leave it out.", cpus(used, ran))
}

// requestCPU is the request that reserves what a worker used and waited for.
func requestCPU(wanted, window time.Duration) string {
	return fmt.Sprintf("Request CPU for the workers (spec.worker.resources.requests.cpu: %s), or keep other load off their nodes; "+
		"more workers on the same nodes do not help.", cpus(wanted, window))
}

// cpus is a quantity of CPU that does for so much processor time in a time: "600m".
func cpus(used, in time.Duration) string {
	steps := math.Ceil(float64(used)/float64(in)/cpuStep - 1e-9)
	return fmt.Sprintf("%.0fm", max(1, steps)*cpuStep*1000)
}

// usedEach is the processor time of each worker with a share of the step.
func (f fleet) usedEach(cpu time.Duration) time.Duration {
	return cpu / time.Duration(max(1, f.active))
}

// punctual is the number of workers that keep up, if these fell behind by so much in the
// window: they did in it what should have taken as much less.
func (f fleet) punctual(merged *measure.Measurement, behind time.Duration) int64 {
	if behind <= 0 {
		return 0
	}
	return f.enough(int64(merged.Window), int64(merged.Window-behind))
}

// useMore is the advice to use so many workers; 0: it is not known how many.
func useMore(workers int64) string {
	if workers == 0 {
		return "use more workers"
	}
	return fmt.Sprintf("use %d workers or more", workers)
}
