package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// cpuStep is to what a quantity of CPU is rounded up: 50m.
const cpuStep = 0.05

// throttledThreads is how many threads of a worker wait at most for each processor on which its
// CPU limit holds it back: what they wait is no sign of a busy node.
const throttledThreads = 4

// cause is what kept a worker from running.
type cause struct {
	reason, why string
	// length is for how long it did, less what the other causes explain of it, and tolerable
	// for how long it may.
	length, tolerable time.Duration
	// advice is what to change; withNumber says whether it may name how much.
	advice func(withNumber bool) string
}

// hindered is what kept a worker from running for so long that it explains a delay, and what to
// change; it is empty if nothing did. A cause explains a delay that is at most twice as long. Of
// several it is the longest, and if another one is more than half as long, the advice has no
// number: it is not known how much of the delay either explains.
func hindered(merged *measure.Measurement, workers fleet, delay time.Duration) (reason, why, advice string) {
	if merged.Window <= 0 {
		return "", "", ""
	}
	causes := slices.DeleteFunc(causesOf(merged, workers), func(c cause) bool {
		return c.length <= c.tolerable || 2*c.length < delay
	})
	if len(causes) == 0 {
		return "", "", ""
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return cmp.Compare(b.length, a.length) })
	most := causes[0]
	return most.reason, most.why, most.advice(len(causes) == 1 || 2*causes[1].length <= most.length)
}

// causesOf are the causes that are measured. A worker that its CPU limit holds back also waits
// and stands still, on however idle a node; one that waits for a processor also stands still.
func causesOf(merged *measure.Measurement, workers fleet) []cause {
	h, window := &merged.Health, merged.Window
	waited := max(0, h.RunQueueWaitMax-throttledThreads*h.CPUThrottledMax)
	return []cause{
		{
			reason: v1beta1.ReasonCPUThrottled, length: h.CPUThrottledMax, tolerable: window / tolerableThrottling,
			why: fmt.Sprintf("a worker was held back by its CPU limit for %s of the time", text.Percent(int64(h.CPUThrottledMax), int64(window))),
			advice: func(withNumber bool) string {
				return raiseLimit(workers.usedEach(h.CPU), window-h.CPUThrottledMax, withNumber)
			},
		},
		{
			reason: v1beta1.ReasonNodeBusy, length: waited, tolerable: window / tolerableWait,
			why: fmt.Sprintf("a worker's threads waited for a processor for %s of the time, because its node is busy", text.Percent(int64(h.RunQueueWaitMax), int64(window))),
			advice: func(withNumber bool) string {
				return requestCPU(workers.usedEach(h.CPU)+h.RunQueueWaitMax, window, withNumber)
			},
		},
		{
			reason: v1beta1.ReasonNodeBusy, length: max(0, h.StalledMax-h.CPUThrottledMax-waited),
			why: fmt.Sprintf("a worker stood still for %s, because it was stopped or its node is busy", text.Short(h.StalledMax)),
			advice: func(bool) string {
				return "Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help."
			},
		},
	}
}

// Delay is what delayed the generator longest in a step, and what to change; empty if nothing
// that is measured did. It is for a step whose result the delay decides, however short it was.
func Delay(workers int32, step *v1beta1.StepStatus, merged *measure.Measurement) (reason, message string) {
	const sentence = "In step %s %s %s %s; give each worker more CPU, or run it on a less busy node."
	sent, read, pause := merged.Lateness.Max(), merged.ReadLateness.Max(), merged.Health.GCPauseMax
	behind := max(sent, read)
	if reason, message = inStep(step, merged, newFleet(workers, step), behind); reason != "" {
		return reason, message
	}
	switch {
	case pause > 0 && 2*pause >= behind:
		return v1beta1.ReasonScheduleLag, fmt.Sprintf(sentence, step.Name, "the garbage collector of a worker stopped it for", text.Short(pause), "at a time")
	case behind == 0:
		return "", ""
	case read > sent:
		return v1beta1.ReasonReadLag, fmt.Sprintf(sentence, step.Name, "responses were read up to", text.Short(read), "after they had arrived")
	}
	return v1beta1.ReasonScheduleLag, fmt.Sprintf(sentence, step.Name, "requests were sent up to", text.Short(sent), "after a steady generator would have sent them")
}

// raiseLimit is the limit under which no worker is held back: what each used in the time for
// which it ran, so that it may use as much all the time.
func raiseLimit(used, ran time.Duration, withNumber bool) string {
	if !withNumber || used <= 0 || ran <= 0 {
		return "Raise spec.worker.resources.limits.cpu, or leave it out."
	}
	return fmt.Sprintf("Raise spec.worker.resources.limits.cpu to %s, or leave it out.", cpus(used, ran))
}

// requestCPU is the request that reserves what a worker used and waited for.
func requestCPU(wanted, window time.Duration, withNumber bool) string {
	amount := ""
	if withNumber {
		amount = ": " + cpus(wanted, window)
	}
	return fmt.Sprintf("Request CPU for the workers (spec.worker.resources.requests.cpu%s), or keep other load off their nodes; "+
		"more workers on the same nodes do not help.", amount)
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
