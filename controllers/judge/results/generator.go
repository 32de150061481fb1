package results

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
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
	// tolerableWait is for how large a part of the window the threads of a worker may
	// have waited for a processor before a busy node explains why it was late: 1/10.
	tolerableWait = 10
	// tolerableUnsent is how large a part of arrivals may remain unsent: 1/200.
	// Arrivals do not wait for replies, so whatever the target does, it is the
	// generator that did not send them, but for those that the target left no room.
	tolerableUnsent = 200
	// leastHeldUp is from which part of the users' time on it is said that they were held
	// up: 1/10000, the least that two digits behind the point show.
	leastHeldUp = 10_000
)

// fleet are the workers in one step.
type fleet struct {
	// desired is how many there are, active how many have a share of the step.
	desired, active int64
}

func newFleet(workers int32, step *v1beta1.StepStatus) fleet {
	f := fleet{desired: int64(workers), active: int64(workers)}
	if users := int64(step.Load.MostUsers()); users > 0 {
		f.active = min(f.active, users)
	} else if n, _ := plan.Due(&step.Load); n > 0 {
		f.active = min(f.active, n)
	}
	return f
}

// enough is a number of workers of which each, if it does as much as each did here,
// does its share of what was to be done; 0 if nothing was done, or all, from which it could
// not be told.
func (f fleet) enough(todo, done int64) int64 {
	if done <= 0 || done >= todo {
		return 0
	}
	n := math.Ceil(float64(f.active) * float64(todo) / float64(done))
	return f.bounded(int64(min(n, workerv1.MaxWorkers)))
}

// bounded is more than there are, and at most as many as a run may have.
func (f fleet) bounded(n int64) int64 {
	return min(max(n, f.desired+1), workerv1.MaxWorkers)
}

// time is that which the workers had together.
func (f fleet) time(window time.Duration) time.Duration {
	return time.Duration(f.active) * window
}

// generator is the state of the generator in a step, and whether it was the limit.
func generator(workers fleet, step *v1beta1.StepStatus, merged *measure.Measurement, total *measure.Request) *v1beta1.GeneratorStatus {
	health := &merged.Health
	status := &v1beta1.GeneratorStatus{
		Healthy:              true,
		Engine:               text.Truncate(merged.Engine, maxEngine),
		CPUThrottled:         text.Percent(int64(health.CPUThrottled), int64(workers.time(merged.Window))),
		ConnectionsOpened:    merged.ConnectionsOpened,
		OpenedInWindow:       merged.OpenedInWindow,
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
	if p99, ok := merged.ReadLateness.Quantile(0.99); ok {
		status.ReadLatenessP99 = rounded(p99)
	}
	if h := merged.Handshakes; h != nil {
		status.Handshakes = h.Count()
		status.ResumedHandshakes = merged.ResumedHandshakes
		status.HandshakeP50, status.HandshakeP99 = quantile(h, 0.5), quantile(h, 0.99)
	}
	if health.CPU > 0 {
		status.CPUTime = &metav1.Duration{Duration: health.CPU.Round(time.Millisecond)}
	}
	if health.RunQueueWait > 0 {
		status.RunQueueWait = text.Percent(int64(health.RunQueueWait), int64(workers.time(merged.Window)))
	}
	if health.Stalled > 0 {
		status.Stalled = &metav1.Duration{Duration: health.Stalled.Round(time.Millisecond)}
	}
	if health.GCPauseMax > 0 {
		status.GCPauseMax = &metav1.Duration{Duration: health.GCPauseMax}
	}
	notPlanned := displaced(step, merged, total)
	status.LoadDisplaced = notPlanned != ""
	sayDisplaced(status, merged)
	// From what explains most to what is explained by it: a request that could not
	// be sent is worse than a late one, and a worker that is held back is late.
	for _, rule := range []func() (reason, message string){
		func() (string, string) { return exhausted(step, merged, workers) },
		func() (string, string) { return ofDisplaced(notPlanned, merged, total, workers) },
		func() (string, string) { return unsent(step, merged, workers) },
		func() (string, string) { return throttled(step, merged, workers) },
		func() (string, string) { return late(step, merged, workers, total.Response) },
		func() (string, string) { return readLate(step, merged, workers, total.Response) },
	} {
		if status.Reason, status.Message = rule(); status.Reason != "" {
			status.Healthy = false
			break
		}
	}
	return status
}

// sayDisplaced says by how much users were held up and a burst was spread.
func sayDisplaced(status *v1beta1.GeneratorStatus, merged *measure.Measurement) {
	if merged.HeldUp > merged.UserTime/leastHeldUp {
		status.HeldUp = text.Percent(int64(merged.HeldUp), int64(merged.UserTime))
	}
	if merged.BurstSpread > 0 {
		status.BurstSpread = rounded(merged.BurstSpread)
	}
}

// ofDisplaced is about a load that was not the planned one.
func ofDisplaced(fact string, merged *measure.Measurement, total *measure.Request, workers fleet) (reason, message string) {
	if fact == "" {
		return "", ""
	}
	// For so long, a generator that does nothing displaces as much.
	part := max(
		withheld(merged)+share(total.Displaced, total.Sent),
		share(int64(merged.HeldUp), int64(merged.UserTime)))
	delay, offered := max(merged.BurstSpread, time.Duration(part*float64(merged.Window))), merged.Offered()
	return lagging(v1beta1.ReasonScheduleLag, fact, merged, workers, delay, max(
		workers.enough(offered.Due, offered.Due-offered.ByGenerator),
		workers.enough(int64(merged.UserTime), int64(merged.UserTime-merged.HeldUp)),
		workers.punctual(merged, merged.Lateness.Max())))
}

func exhausted(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet) (reason, message string) {
	descriptors, ports := merged.Health.DescriptorsExhausted, merged.Health.PortsExhausted
	const sentence = "In step %s a worker had no %s left for a connection (%d times in all); %s."
	// Each of as many workers as that has no more to open than each of these has opened.
	more := useMore(workers.enough(merged.ConnectionsOpened+descriptors+ports, merged.ConnectionsOpened))
	switch {
	case descriptors > 0:
		return v1beta1.ReasonDescriptorsExhausted, fmt.Sprintf(sentence, step.Name, "file descriptor", descriptors, more)
	case ports > 0:
		return v1beta1.ReasonPortsExhausted, fmt.Sprintf(sentence, step.Name, "local port", ports, more)
	}
	return "", ""
}

// unsent is about arrivals, and users who think: their requests are due whatever the
// target does, or after it has responded. A user with a rate, or of a burst, that
// waits for a response has good reason not to send, unless its worker could not run.
func unsent(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet) (reason, message string) {
	waits := step.Load.Users > 0 && (step.Load.Think == nil || step.Load.IsBurst())
	offered := merged.Offered()
	due := offered.Due - offered.WithoutRoom // for these, the generator had to wait
	sent := offered.Due - offered.Unsent
	delay := time.Duration(share(due-sent, due) * float64(merged.Window))
	_, why, _ := hindered(merged, workers, delay)
	if waits && why == "" || (due-sent)*tolerableUnsent <= due {
		return "", ""
	}
	fact := fmt.Sprintf("Step %s sent only %s of the due requests", step.Name, text.Percent(sent, due))
	if offered.OfSessions {
		fact = fmt.Sprintf("Step %s started only %s of the due sessions", step.Name, text.Percent(sent, due))
	}
	if merged.UnsentWithoutRoom > 0 {
		fact += " for which connections had room" // the others are not among them
	}
	return lagging(v1beta1.ReasonScheduleLag, fact, merged, workers, delay, workers.enough(due, sent))
}

// lagging is why a generator was late, and what to change. Where nothing that hindered the
// workers explains the delay, so many of them are enough; 0: it is not known how many.
func lagging(lag, fact string, merged *measure.Measurement, workers fleet, delay time.Duration, enough int64) (reason, message string) {
	if reason, why, advice := hindered(merged, workers, delay); reason != "" {
		return reason, fmt.Sprintf("%s: %s. %s", fact, why, advice)
	}
	return lag, fmt.Sprintf("%s; %s, or give each more CPU.", fact, useMore(enough))
}

// throttled is about the worker that was held back longest: its requests are in the
// merged quantiles, even if no other worker was held back.
func throttled(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet) (reason, message string) {
	if merged.Health.CPUThrottledMax <= merged.Window/tolerableThrottling {
		return "", ""
	}
	return inStep(step, merged, workers, 0)
}

// inStep is what hindered the workers in a step.
func inStep(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet, delay time.Duration) (reason, message string) {
	reason, why, advice := hindered(merged, workers, delay)
	if reason == "" {
		return "", ""
	}
	return reason, fmt.Sprintf("In step %s %s. %s", step.Name, why, advice)
}

// ofQuantile is the delay behind a p99: what takes less than 1 % of the window does not reach
// into it.
func ofQuantile(p99, window time.Duration) time.Duration { return max(p99, window/100) }

// late is about schedules: users who do not think send when they can, and have none to
// miss.
func late(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet, response *measure.Histogram) (reason, message string) {
	p99, ok := merged.Lateness.Quantile(0.99)
	if !ok || !step.Load.IsScheduled() || p99 <= tolerable(response) {
		return "", ""
	}
	enough := max(workers.enough(merged.Due, merged.Due-merged.Unsent), workers.punctual(merged, merged.Lateness.Max()))
	fact := fmt.Sprintf("Step %s sent requests up to %s (p99) after they were due, because of the generator itself", step.Name, text.Short(p99))
	return lagging(v1beta1.ReasonScheduleLag, fact, merged, workers, ofQuantile(p99, merged.Window), enough)
}

// readLate is about responses: one that waits to be read seems to be slow, in a closed
// loop as well. The responses of a burst come together, and are read one after another
// by however good a generator.
func readLate(step *v1beta1.StepStatus, merged *measure.Measurement, workers fleet, response *measure.Histogram) (reason, message string) {
	p99, ok := merged.ReadLateness.Quantile(0.99)
	if !ok || step.Load.IsBurst() || p99 <= tolerable(response) {
		return "", ""
	}
	// With n times as many workers, each has an n-th of the responses to read before
	// another's.
	enough := workers.enough(int64(p99), int64(tolerableLateness))
	fact := fmt.Sprintf("In step %s responses were read up to %s (p99) after they had arrived", step.Name, text.Short(p99))
	return lagging(v1beta1.ReasonReadLag, fact, merged, workers, ofQuantile(p99, merged.Window), enough)
}

func tolerable(response *measure.Histogram) time.Duration {
	p99, ok := response.Quantile(0.99)
	if !ok {
		return tolerableLateness
	}
	return max(tolerableLateness, p99/tolerableShare)
}
