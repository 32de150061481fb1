package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// recordReport writes what was reported into the step's status: the last report at once,
// one before it as often as the store can take it. It ends a run whose reports cannot be
// merged.
func (r *loading) recordReport() (goesOn bool) {
	if r.report == nil {
		return true
	}
	if !r.done && (!r.isDue() || r.endsSoon(r.i) || r.delayWrite()) || r.isBehind() {
		return true
	}
	return r.record()
}

// isDue says whether the report is newer than what stands in the status by enough.
func (r *loading) isDue() bool {
	until := r.read.Steps[r.i].ReportedUntil
	return until == nil || r.report.Until.Sub(until.Time).Abs() >= refresh
}

// reportOf is what was reported of step i; nil: nothing yet. Until the step before is
// acknowledged, the report that is seen is still about that one.
func (r *inputs) reportOf(i int) *exchange.Report {
	if r.seen.Step == nil || int(r.seen.Step.Step) != i {
		return nil
	}
	return r.seen.Step
}

// isBehind says whether the report lacks what stands in the status of its step. A process
// that took the run over receives what the workers hold from one after another, and never
// receives what a worker held that was lost meanwhile. Counts never fall.
func (r *loading) isBehind() bool {
	read, report := &r.read.Steps[r.i], r.report
	if read.Result == nil {
		return false
	}
	if !r.done && report.Reporting+r.out.Status.Workers.Lost < read.WorkersReporting {
		return true
	}
	var sent int64
	for n := range report.Merged.Requests {
		sent += report.Merged.Requests[n].Sent
	}
	return sent < read.Result.Sent || report.Merged.Due < read.Result.Due
}

// judgeStep folds the step, whose last report is recorded, into the thresholds.
func (r *loading) judgeStep() (stop bool) {
	s := &r.out.Status
	j := verdict.Judge(r.spec, s, r.i, r.report.Merged)
	judged := &s.Steps[j.At]
	s.Thresholds, judged.ThresholdState, judged.Repeated = j.Thresholds, j.Step, j.Repeated
	if j.Generator != nil {
		judged.Result.Generator = j.Generator
	}
	for n, t := range s.Thresholds {
		if s.Search == nil && t.State == v1beta1.ThresholdFailed && r.read.Thresholds[n].State != t.State {
			r.warn(v1beta1.ReasonThresholdBreached, t.Message)
		}
	}
	return j.Stop
}

func (r *loading) record() (goesOn bool) {
	step, report, merged := r.step(), r.report, r.report.Merged
	if !r.done {
		merged = soFar(report)
	}
	result, err := results.StepResult(r.test, step, merged, r.silence())
	if err != nil {
		r.fail(v1beta1.VerdictError, v1beta1.ReasonInvalidResult, err.Error())
		return false
	}
	if !r.done { // it is written again and again
		result.Histogram, result.Traces = "", nil
		results.CountsAlone(result)
	}
	r.trim(result)
	until := metav1.NewMicroTime(report.Until)
	step.Result = result
	step.ReportedUntil = &until
	step.WorkersReporting = report.Reporting
	step.Window = &metav1.Duration{Duration: merged.Window.Round(time.Microsecond)}
	if !report.Merged.FirstStart.IsZero() {
		skew := report.Merged.LastStart.Sub(report.Merged.FirstStart)
		step.StartSkew = &metav1.Duration{Duration: skew.Round(time.Microsecond)}
	}
	if r.done {
		r.store()
	}
	return true
}

// trim leaves out of the step's result what there is no room for: the histogram, which is
// most of it, before the traces and the results of the requests. A status that is larger
// than what the cluster stores of an object could never be written, and the run would never
// end. What the steps to come may need for their requests and traces is left for them.
func (r *loading) trim(result *v1beta1.StepResult) {
	foreseen := plan.Foreseen(r.spec, &r.read)
	left := room(r.test, foreseen)
	for j := range r.read.Steps {
		if other := r.read.Steps[j].Result; other != nil && j != r.i {
			left -= len(other.Histogram) + results.DetailSize(other)
		}
	}
	toCome := 1 + loads(foreseen[r.i+1:])
	share := left / toCome
	results.TrimRequests(r.spec, result, share)
	if results.DetailSize(result) > share {
		result.Traces = nil
	}
	if len(result.Histogram) > left-toCome*results.DetailSize(result) {
		result.Histogram = ""
	}
}
