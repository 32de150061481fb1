package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// A threshold that aborts is written to the status as breached, with the instant, and
// the run as stopped. Workers are directed to stop once that was read back, so that an
// operator that takes the run over finishes what this one began, and does not begin it
// again.

// abortIfBreached stops step i, which is under way, if a threshold aborts it.
func (r *run) abortIfBreached(i int, report *exchange.Report) {
	if report == nil {
		return
	}
	s := &r.out.Status
	r.out.Seconds = r.seen.Seconds
	if s.StopTime != nil || !plan.Aborts(r.spec) || results.BeganLate(&s.Steps[i], report) {
		return
	}
	step, merged := s.Steps[i], soFar(report)
	result, err := results.StepResult(r.test, &step, merged, -1)
	if err != nil {
		return // it is not judged: the run fails when it is recorded
	}
	step.Result = result
	n, breach, seconds := verdict.Abort(r.spec, &r.read, verdict.Live{
		Step: &step, Merged: merged, Shortest: report.ShortestWindow, All: r.allReport(report), Now: r.now,
	}, r.seen.Seconds)
	r.out.Seconds = seconds
	if breach == nil {
		return
	}
	now := metav1.NewMicroTime(r.now)
	s.StopTime, s.Thresholds[n] = &now, *breach
	r.warn(v1alpha1.ReasonThresholdBreached, breach.Message)
}

// allReport says whether every worker has reported of the running step, and is there, but
// for those that were gone before it.
func (r *run) allReport(report *exchange.Report) bool {
	isGone := func(n int) bool { return slices.Contains(r.read.GoneWorkers, int32(n)) }
	for n, w := range r.workers {
		if !isGone(n) && (!w.Connected || r.leaves(w)) {
			return false
		}
	}
	return report.Reporting+int32(len(r.read.GoneWorkers)) == r.read.Workers.Desired
}

// abortedBy is the threshold that stopped the run, as it was read back; nil: none did.
func (r *run) abortedBy() *v1alpha1.ThresholdStatus {
	n := slices.IndexFunc(r.read.Thresholds, func(t v1alpha1.ThresholdStatus) bool { return t.AbortTime != nil })
	if n < 0 {
		return nil
	}
	return &r.read.Thresholds[n]
}

// aborted closes step i, which a threshold stopped and of which the last report is in or
// given up. What was measured is kept, and judged by the other thresholds.
func (r *run) aborted(i int, report *exchange.Report, by *v1alpha1.ThresholdStatus) {
	step := &r.out.Status.Steps[i]
	r.done(i, v1alpha1.StepCut)
	step.Message = fmt.Sprintf("threshold %s aborted it after %v.", by.Name, r.ranFor(i).Round(time.Second))
	if report != nil && !results.BeganLate(step, report) {
		r.judge(i, report)
	}
	step.ThresholdState = v1alpha1.ThresholdFailed
	r.finish(i+1, v1alpha1.ReasonAborted)
}

// ranFor is how long after its start step i was stopped.
func (r *run) ranFor(i int) time.Duration { return r.read.StopTime.Sub(r.read.Steps[i].StartTime.Time) }
