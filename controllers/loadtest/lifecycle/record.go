package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// mayRecord says whether a report of step i is to be written by now.
func (r *run) mayRecord(i int, report *exchange.Report, done bool) bool {
	until := r.read.Steps[i].ReportedUntil
	due := until == nil || report.Until.Sub(until.Time).Abs() >= refresh
	return (done || due && !r.endsSoon(i) && r.mayWriteLive()) && !r.isBehind(i, report, done)
}

// reportOf is what was reported of step i; nil: nothing yet. Until the step before is
// acknowledged, what is seen is still of that one.
func (r *run) reportOf(i int) *exchange.Report {
	if r.seen.Step == nil || int(r.seen.Step.Step) != i {
		return nil
	}
	return r.seen.Step
}

// isBehind says whether a report lacks what stands in the status of its step. A
// process that took the run over receives what the workers hold from one after
// another, and never what one held that was lost meanwhile. Counts never fall.
func (r *run) isBehind(i int, report *exchange.Report, done bool) bool {
	read := &r.read.Steps[i]
	if read.Result == nil {
		return false
	}
	if !done && report.Reporting+r.out.Status.Workers.Lost < read.WorkersReporting {
		return true
	}
	var sent int64
	for n := range report.Merged.Requests {
		sent += report.Merged.Requests[n].Sent
	}
	return sent < read.Result.Sent || report.Merged.Due < read.Result.Due
}

// judge folds a finished step, whose report is recorded, into the thresholds.
func (r *run) judge(i int, report *exchange.Report) (stop bool) {
	s := &r.out.Status
	j := verdict.Judge(r.spec, s, i, report.Merged)
	judged := &s.Steps[j.At]
	s.Thresholds, judged.ThresholdState, judged.Repeated = j.Thresholds, j.Step, j.Repeated
	if j.Generator != nil {
		judged.Result.Generator = j.Generator
	}
	for n, t := range s.Thresholds {
		if s.Search == nil && t.State == v1alpha1.ThresholdFailed && r.read.Thresholds[n].State != t.State {
			r.warn(v1alpha1.ReasonThresholdBreached, t.Message)
		}
	}
	return j.Stop
}

// record writes a report into the step's status. It is false, and the run has
// failed, if the report cannot be merged.
func (r *run) record(i int, report *exchange.Report, done bool) bool {
	step, merged := &r.out.Status.Steps[i], report.Merged
	if !done {
		merged = soFar(report)
	}
	result, err := results.StepResult(r.test, step, merged, r.silence(i, report))
	if err != nil {
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonInvalidResult, err.Error())
		return false
	}
	if done {
		r.trim(i, result)
	} else { // it is written again and again
		result.Histogram, result.ErrorSamples, result.Traces = "", nil, nil
	}
	until := metav1.NewMicroTime(report.Until)
	step.Result = result
	step.ReportedUntil = &until
	step.WorkersReporting = report.Reporting
	step.Window = &metav1.Duration{Duration: merged.Window.Round(time.Microsecond)}
	if !report.Merged.FirstStart.IsZero() {
		skew := report.Merged.LastStart.Sub(report.Merged.FirstStart)
		step.StartSkew = &metav1.Duration{Duration: skew.Round(time.Microsecond)}
	}
	if done {
		r.store(i, report)
	}
	return true
}

// trim leaves out of step i's result what there is no room for: the histogram, which
// is most of it, before the error samples and the traces. A status that is larger than what the
// cluster stores of an object could never be written, and the run would never end.
func (r *run) trim(i int, result *v1alpha1.StepResult) {
	left := room(r.test, plan.Foreseen(r.spec, &r.read))
	for j := range r.read.Steps {
		if other := r.read.Steps[j].Result; other != nil && j != i {
			left -= len(other.Histogram) + results.SamplesSize(other)
		}
	}
	samples := results.SamplesSize(result)
	if samples > left {
		result.ErrorSamples, result.Traces, samples = nil, nil, 0
	}
	if len(result.Histogram) > left-samples {
		result.Histogram = ""
	}
}
