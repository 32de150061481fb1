package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// loading is a pass over a run in which a step sends load, until the last report of the step
// is in.
type loading struct {
	*running
	// i is the index of the step, report what was reported of it; nil: nothing yet.
	i      int
	report *exchange.Report
	// done says that every report is in, or given up, and breached that a threshold was
	// breached by which the steps after this one are skipped.
	done, breached bool
}

// loadPhases read the report. awaitReports writes done: until every report is in,
// abortIfBreached is the last phase. The phases after it end the step; judge writes breached,
// which goOn reads.
var loadPhases = []phase[*loading]{
	(*loading).failIfUnreadable,
	(*loading).awaitReports,
	(*loading).readTargetBefore,
	(*loading).sampleUsage,
	(*loading).readTargetAfter,
	(*loading).askQueries,
	(*loading).recordReport,
	(*loading).abortIfBreached,
	(*loading).boundMissing,
	(*loading).closeAborted,
	(*loading).closeWithOthers,
	(*loading).closeStopped,
	(*loading).closeWithoutWorkers,
	(*loading).settle,
	(*loading).judge,
	(*loading).goOn,
}

func (r *running) loadStep(i int, report *exchange.Report) *loading {
	return &loading{running: r, i: i, report: report}
}

// step is the step in the status that goes out.
func (r *loading) step() *v1beta1.StepStatus { return &r.out.Status.Steps[r.i] }

func (r *loading) isFinal(w exchange.Worker) bool { return r.report != nil && w.Final }

// failIfUnreadable ends a run whose workers report what cannot be merged.
func (r *loading) failIfUnreadable() (goesOn bool) {
	if r.report == nil || r.report.Err == nil {
		return true
	}
	r.fail(v1beta1.VerdictError, v1beta1.ReasonInvalidResult, fmt.Sprintf("Step %s: %v.", r.step().Name, r.report.Err))
	return false
}

// awaitReports finds out whether a worker is still waited for, and asks for a pass when it
// no longer is. The workers whose reports are not in by the end of the step count as lost.
func (r *loading) awaitReports() (goesOn bool) {
	r.done = count(r.seen.Workers, func(w exchange.Worker) bool {
		return !r.isFinal(w) && !r.isLost(w) && r.waitUntil(r.limit(w), w)
	}) == 0
	return true
}

// limit is the instant until which the run waits for a worker. It is the step's own limit, or
// the shorter limit of a stopped step, but never before this process has been there for as long as workers need
// to find it. For a connected worker it counts the whole step anew from when this process
// took the run over: another process may have chosen the start by another clock.
func (r *loading) limit(w exchange.Worker) time.Time {
	step := &r.read.Steps[r.i]
	end, found := endOf(step), r.since().Add(foundWithin)
	switch {
	case r.read.Internal.StopTime != nil:
		end = instant.Earlier(end, r.read.Internal.StopTime.Add(cutGrace))
	case w.Connected:
		found = r.since().Add(lengthOf(step))
	}
	return instant.Later(end, found)
}

// closeWithOthers ends a load in the background. It was cut as was planned: what it measured is judged.
func (r *loading) closeWithOthers() (goesOn bool) {
	if !r.endsWithOthers() {
		return true
	}
	step := r.step()
	step.Message = fmt.Sprintf("the other loads had ended after %v.", r.ranFor(r.i).Round(time.Second))
	r.endStep(r.i, v1beta1.StepCut)
	if r.report != nil {
		r.judgeStep()
	}
	r.finish(r.i+1, v1beta1.ReasonEndedWithOthers)
	return false
}

// closeStopped ends a run that was stopped: by the user, the administrator or its deadline.
func (r *loading) closeStopped() (goesOn bool) {
	if r.read.Internal.StopTime == nil && r.out.Status.Internal.StopCause == nil {
		return true
	}
	r.finishCut()
	return false
}

// settle ends the step. It is complete if it was carried out as it was planned.
func (r *loading) settle() (goesOn bool) {
	step := r.step()
	if step.Message = results.NotCarriedOut(step, r.seen.Workers, r.report); step.Message == "" {
		r.endStep(r.i, v1beta1.StepComplete)
		return true
	}
	step.Coverage = results.Coverage(step)
	r.endStep(r.i, v1beta1.StepCut)
	return true
}

// judge folds the result into the thresholds, unless the step began late.
func (r *loading) judge() (goesOn bool) {
	r.breached = !results.BeganLate(r.step(), r.report) && r.judgeStep()
	return true
}

// goOn begins the next step, or ends the run after this one.
func (r *loading) goOn() (goesOn bool) {
	switch {
	case r.lossStops():
		r.finish(r.i+1, v1beta1.ReasonStoppedOnWorkerLoss)
	case r.step().State == v1beta1.StepCut && !r.isCutByLoss():
		r.finish(r.i+1, v1beta1.ReasonStoppedOnCutStep)
	case r.breached && r.i+1 < len(r.read.Steps): // nothing is stopped after the last
		r.finish(r.i+1, v1beta1.ReasonStoppedOnBreach)
	default:
		r.next(r.i + 1)
	}
	return true
}

// silence is the time before the step in which this run certainly sent nothing. It is negative
// if nothing is certain, since requests may be under way that no report counts: requests
// of a lost worker, of a setup or a warm-up, preflights and readings in the name of a client
// of the audit, and requests of an earlier step that were given up while the target still had them. Nor is
// anything certain of instants that another process wrote, whose clock may differ.
func (r *loading) silence() time.Duration {
	step := &r.read.Steps[r.i]
	if r.out.Status.Workers.Lost > 0 || r.report.Reporting < r.read.Workers.Desired || step.Load.WarmUp != nil || !r.began(r.i) {
		return -1
	}
	start := step.StartTime.Time
	for j, before := range slices.Backward(r.read.Steps[:r.i]) {
		if before.Load.IsPause() {
			continue
		}
		if result := before.Result; result == nil || before.State == v1beta1.StepCut || !r.began(j) || before.Load.WarmUp != nil || result.Outcomes.Unfinished+result.Outcomes.Timeout > 0 {
			return -1
		}
		return max(0, start.Sub(before.CompletionTime.Time))
	}
	if r.spec.Setup != nil || asksAsClient(r.spec) {
		return -1
	}
	return max(0, start.Sub(r.seen.Since))
}

// began says whether this process began step i, so that its instants are of one clock.
func (r *inputs) began(i int) bool { return !r.seen.Since.IsZero() && int32(i) >= r.seen.From }
