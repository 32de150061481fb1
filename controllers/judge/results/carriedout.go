package results

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// NotCarriedOut says what of a step's plan its workers did not carry out; it is empty
// if they did all of it. Only then is the step complete.
//
// What the workers say of themselves does not decide it: the requests that were due
// must be as many as were planned, neither fewer nor more, in all and on each worker.
// Where their number is not known beforehand, each worker must have sent load for the
// whole duration. Nor is a worker believed that had to end, even if it does not say so.
func NotCarriedOut(step *v1beta1.StepStatus, workers []exchange.Worker, report *exchange.Report) string {
	load := &step.Load
	planned, what := plan.Due(load)
	due, length := dueOf(load, report.Merged.Due, report.Merged.Sessions.Due), v1beta1.OrZero(load.Duration)
	switch sent := sentFor(step, report); {
	case due < planned:
		return fmt.Sprintf("only %d of the %d planned %s came due.", due, planned, what)
	case planned > 0 && due > planned:
		return fmt.Sprintf("%d %s came due, but only %d were planned.", due, what, planned)
	case planned == 0 && sent < length:
		return fmt.Sprintf("a worker sent load for only %v of %v.", sent.Truncate(time.Millisecond), length)
	case delay(step, report) > TolerableDelay:
		return fmt.Sprintf("a worker began the step %v late.", delay(step, report).Truncate(time.Millisecond))
	case BeganLate(step, report):
		return "its workers began at a start time that another replica had chosen, and sent requests late."
	}
	return notWhole(load, workers)
}

// dueOf is what was due of what a load plans: so many requests, or sessions.
func dueOf(load *v1beta1.StepLoad, requests, sessions int64) int64 {
	if load.Sessions != nil {
		return sessions
	}
	return requests
}

// notWhole says which of the workers did not carry out their shares.
func notWhole(load *v1beta1.StepLoad, workers []exchange.Worker) string {
	whole := 0
	_, what := plan.Due(load)
	for n, w := range workers {
		share, known := plan.DueOn(load, int32(n), int32(len(workers)))
		if due := dueOf(load, w.Due, w.SessionsDue); known && w.Final && due != share {
			return fmt.Sprintf("%d %s came due on worker %d, but %d were planned for it.", due, what, n, share)
		}
		if w.Final && !w.Cut && !w.PodEnding {
			whole++
		}
	}
	if whole < len(workers) {
		return fmt.Sprintf("only %d of %d workers completed it.", whole, len(workers))
	}
	return ""
}

// RestCarriedOut says whether the workers that are not lost carried out their shares of a
// step that was cut.
func RestCarriedOut(step *v1beta1.StepStatus, workers []exchange.Worker, report *exchange.Report, isLost func(worker int) bool) bool {
	if delay(step, report) > TolerableDelay || BeganLate(step, report) {
		return false
	}
	for n, w := range workers {
		share, known := plan.DueOn(&step.Load, int32(n), int32(len(workers)))
		if !isLost(n) && (!w.Final || known && dueOf(&step.Load, w.Due, w.SessionsDue) != share) {
			return false
		}
	}
	return true
}

// Coverage is the share of the planned requests, or sessions, of a step that has ended that are in
// its result; empty where all are, or where their number is not planned.
func Coverage(step *v1beta1.StepStatus) string {
	r := step.Result
	if r == nil {
		return ""
	}
	planned, _ := plan.Due(&step.Load)
	due := dueOf(&step.Load, r.Due, ptr.Deref(r.Sessions, v1beta1.SessionsResult{}).Due)
	if due >= planned {
		return ""
	}
	return text.Percent(due, planned)
}

// TolerableDelay is how late a worker may begin a step and count as having sent load
// for all of it. A start that is received only after a reconnect is later; one on a busy
// node seldom is.
const TolerableDelay = 500 * time.Millisecond

// sentFor is for how long the worker that sent load for the shortest time did. A worker
// that begins late has a window as long as any other, and sends nothing at first. What a
// schedule asks for in that time is unsent; users without a rate leave nothing unsent.
func sentFor(step *v1beta1.StepStatus, report *exchange.Report) time.Duration {
	if delay(step, report) <= TolerableDelay {
		return report.ShortestWindow
	}
	return report.ShortestWindow - delay(step, report)
}

// BeganLate says whether a worker began a step so late that its measurement is not one
// of the step: what was due by then was sent late, which is not the target's doing.
//
// Workers may have begun it by an instant that another operator chose and this one does
// not know. Then they began late if as much was sent late as is due within the delay that
// is tolerated, and more than 1 %: some requests are late on any busy machine.
func BeganLate(step *v1beta1.StepStatus, report *exchange.Report) bool {
	m := report.Merged
	if delay(step, report) > TolerableDelay {
		return true
	}
	if m.LastStart.IsZero() || step.StartTime == nil || step.StartTime.Sub(m.LastStart)-m.ClockError <= TolerableDelay {
		return false
	}
	var late int64
	for i := range m.Requests {
		late += m.Requests[i].Late
	}
	share := float64(TolerableDelay) / float64(max(TolerableDelay, v1beta1.OrZero(step.Load.Duration)))
	if step.Load.IsBurst() {
		share = 0
	}
	return float64(late) > max(share, 0.01)*float64(m.Due)
}

// delay is how long after its start instant, or after the first worker, the last worker
// began a step.
func delay(step *v1beta1.StepStatus, report *exchange.Report) time.Duration {
	m := report.Merged
	if m.LastStart.IsZero() || step.StartTime == nil {
		return 0
	}
	late := m.LastStart.Sub(step.StartTime.Add(v1beta1.OrZero(step.Load.WarmUp)))
	if !m.FirstStart.IsZero() {
		late = max(late, m.LastStart.Sub(m.FirstStart))
	}
	return late - m.ClockError
}
