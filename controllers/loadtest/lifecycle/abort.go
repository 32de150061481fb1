package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// A threshold that aborts is written to the status as breached, with the instant, and
// the run as stopped. Workers are directed to stop once that was read back, so that an
// operator that takes the run over finishes the abort, and does not begin another.

// abortIfBreached ends the pass of a step that is under way. Before that, it writes that
// the run is stopped if a threshold aborts it.
func (r *loading) abortIfBreached() (goesOn bool) {
	if !r.done && r.report != nil {
		r.checkAborts()
	}
	return r.done
}

func (r *loading) checkAborts() {
	s, report := &r.out.Status, r.report
	if s.Internal.StopTime != nil || !plan.Aborts(r.spec) || results.BeganLate(r.step(), report) {
		return
	}
	step, merged := *r.step(), soFar(report)
	result, err := results.StepResult(r.test, &step, merged, -1)
	if err != nil {
		return // it is not judged: the run fails when it is recorded
	}
	step.Result = result
	n, breach, seconds := verdict.Abort(r.spec, &r.read, verdict.Live{
		Step: &step, Merged: merged, Shortest: report.ShortestWindow, All: r.allReport(), Now: r.now,
	}, r.seen.Seconds)
	r.out.Seconds = seconds
	if breach == nil {
		return
	}
	now := metav1.NewMicroTime(r.now)
	s.Internal.StopTime, s.Thresholds[n] = &now, *breach
	r.warn(v1beta1.ReasonThresholdBreached, breach.Message)
}

// allReport says whether every worker is connected and has reported of the running step,
// except workers that were gone before it.
func (r *loading) allReport() bool {
	isGone := func(n int) bool { return slices.Contains(r.read.Internal.GoneWorkers, int32(n)) }
	for n, w := range r.workers {
		if !isGone(n) && (!w.Connected || r.leaves(w)) {
			return false
		}
	}
	return r.report.Reporting+int32(len(r.read.Internal.GoneWorkers)) == r.read.Workers.Desired
}

// abortedBy is the threshold that stopped the run, as it was read back; nil: none did.
func (r *inputs) abortedBy() *v1beta1.ThresholdStatus {
	n := slices.IndexFunc(r.read.Thresholds, func(t v1beta1.ThresholdStatus) bool { return t.AbortTime != nil })
	if n < 0 {
		return nil
	}
	return &r.read.Thresholds[n]
}

// closeAborted ends a run that a threshold stopped. What was measured is kept, and judged by
// the other thresholds.
func (r *loading) closeAborted() (goesOn bool) {
	by := r.abortedBy()
	if by == nil {
		return true
	}
	step := r.step()
	r.endStep(r.i, v1beta1.StepCut)
	step.Message = fmt.Sprintf("threshold %s aborted it after %v.", by.Name, r.ranFor(r.i).Round(time.Second))
	if r.report != nil && !results.BeganLate(step, r.report) {
		r.judgeStep()
	}
	step.ThresholdState = v1beta1.ThresholdFailed
	r.finish(r.i+1, v1beta1.ReasonAborted)
	return false
}

// ranFor is the time from the start of step i until it was stopped.
func (r *inputs) ranFor(i int) time.Duration {
	return r.read.Internal.StopTime.Sub(r.read.Steps[i].StartTime.Time)
}
