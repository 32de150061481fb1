package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/verdict"
)

// running carries the run from step to step.
func (r *run) running() {
	if a := r.read.Auditing; a != nil {
		r.auditAfter(a.Reason)
		return
	}
	r.countWorkers()
	r.workersCondition()
	r.cutIfAsked()

	i := r.current()
	switch {
	case i == len(r.read.Steps), r.read.Steps[i].State != v1alpha1.StepRunning:
		r.next(i) // held between two steps, or waiting for workers
	case r.read.Steps[i].Load.IsPause():
		r.pause(i)
	case r.isTooLate(i):
		r.startAnew(i)
	default:
		r.load(i)
	}
}

// current is the first step that is not over.
func (r *run) current() int {
	i := slices.IndexFunc(r.read.Steps, func(s v1alpha1.StepStatus) bool {
		return s.State == v1alpha1.StepPending || s.State == v1alpha1.StepRunning
	})
	if i < 0 {
		return len(r.read.Steps)
	}
	return i
}

// cutIfAsked notes the instant from which the run is being cut short.
func (r *run) cutIfAsked() {
	at, limited := deadline(r.read.StartTime, r.spec.ActiveDeadlineSeconds)
	if r.read.StopTime == nil && (r.spec.Terminate || limited && !r.now.Before(at)) {
		now := metav1.NewMicroTime(r.now)
		r.out.Status.StopTime = &now
	}
	if limited && r.now.Before(at) {
		r.wake(at)
	}
}

// pause lets time pass; nothing is asked of the workers.
func (r *run) pause(i int) {
	end := endOf(&r.read.Steps[i])
	if r.read.StopTime != nil {
		r.finishCut()
		return
	}
	// The next step's instant is chosen ahead, so that the pause is as long as it
	// says.
	if r.now.Before(end.Add(-r.lead())) {
		r.wake(end.Add(-r.lead()))
		return
	}
	r.done(i, v1alpha1.StepComplete)
	r.next(i + 1)
}

// load follows a step that sends load until its last report is in.
func (r *run) load(i int) {
	read := r.read.Steps[i]
	report := r.reportOf(i)
	if report != nil && report.Err != nil {
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonInvalidResult, fmt.Sprintf("Step %s: %v.", read.Name, report.Err))
		return
	}
	isFinal := func(w control.Worker) bool { return report != nil && w.Final }
	awaited := count(r.seen.Workers, func(w control.Worker) bool {
		return !isFinal(w) && !r.isLost(w) && r.awaits(w, r.limit(i, w))
	})
	done := awaited == 0
	r.lookBefore(i)
	if done && !r.hasLookedAfter(i) {
		return
	}

	if report != nil && r.mayRecord(i, report, done) && !r.record(i, report, done) {
		return
	}
	if done {
		r.loadDone(i, report, isFinal)
		return
	}
	r.abortIfBreached(i, report)
}

// mayRecord says whether a report of step i is to be written by now.
func (r *run) mayRecord(i int, report *control.Report, done bool) bool {
	until := r.read.Steps[i].ReportedUntil
	due := until == nil || report.Until.Sub(until.Time).Abs() >= refresh
	return (done || due && r.mayWriteLive()) && !r.isBehind(i, report, done)
}

// reportOf is what was reported of step i; nil: nothing yet. Until the step before is
// acknowledged, what is seen is still of that one.
func (r *run) reportOf(i int) *control.Report {
	if r.seen.Step == nil || int(r.seen.Step.Step) != i {
		return nil
	}
	return r.seen.Step
}

// limit is until when a worker is waited for in step i. It is the step's own limit,
// or the cut's, but never before this process has been there for as long as workers
// need to find it. For a worker that is there, it counts the whole step anew from
// when this process took the run over: the clock by which another chose the start
// may have been another.
func (r *run) limit(i int, w control.Worker) time.Time {
	step := &r.read.Steps[i]
	end, found := endOf(step), r.since().Add(foundWithin)
	switch {
	case r.read.StopTime != nil:
		end = earlier(end, r.read.StopTime.Add(cutGrace))
	case w.Connected:
		found = r.since().Add(lengthOf(step))
	}
	return later(end, found)
}

// isBehind says whether a report lacks what stands in the status of its step. A
// process that took the run over receives what the workers hold from one after
// another, and never what one held that was lost meanwhile. Counts never fall.
func (r *run) isBehind(i int, report *control.Report, done bool) bool {
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

// loadDone closes a step whose last report is in, or given up.
func (r *run) loadDone(i int, report *control.Report, isFinal func(control.Worker) bool) {
	s := &r.out.Status
	r.giveUp(func(w control.Worker) bool { return !isFinal(w) })
	s.Steps[i].MissingAtMost = r.missingAtMost(i, report)
	r.countStored(i, report)
	if by := r.abortedBy(); by != nil {
		r.aborted(i, report, by)
		return
	}
	if r.read.StopTime != nil {
		r.finishCut()
		return
	}
	if count(r.seen.Workers, isFinal) == 0 {
		r.everyWorkerLost(i)
		return
	}
	r.settleLoad(i, report)
	stop := !results.BeganLate(&s.Steps[i], report) && r.judge(i, report)
	switch {
	case r.lossStops():
		r.finish(i+1, v1alpha1.ReasonStoppedOnWorkerLoss)
	case s.Steps[i].State == v1alpha1.StepCut && !r.isCutByLoss(i, report):
		r.finish(i+1, v1alpha1.ReasonStoppedOnCutStep)
	case stop:
		r.finish(i+1, v1alpha1.ReasonStoppedOnBreach)
	default:
		r.next(i + 1)
	}
}

// everyWorkerLost ends a run whose step i no worker went to the end of. What was
// measured, in it or before it, stands.
func (r *run) everyWorkerLost(i int) {
	s := &r.out.Status
	if !slices.ContainsFunc(s.Steps, func(s v1alpha1.StepStatus) bool { return s.Result != nil }) {
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonNoWorkers, fmt.Sprintf("Every worker was lost in step %s.", s.Steps[i].Name))
		return
	}
	r.done(i, v1alpha1.StepCut)
	r.finish(i+1, v1alpha1.ReasonStoppedOnWorkerLoss)
}

// judge folds a finished step, whose report is recorded, into the thresholds.
func (r *run) judge(i int, report *control.Report) (stop bool) {
	s := &r.out.Status
	j := verdict.Judge(r.spec, s, i, report.Merged)
	judged := &s.Steps[j.At]
	s.Thresholds, judged.ThresholdState, judged.Repeated = j.Thresholds, j.Step, j.Repeated
	for n, t := range s.Thresholds {
		if s.Search == nil && t.State == v1alpha1.ThresholdFailed && r.read.Thresholds[n].State != t.State {
			r.warn(v1alpha1.ReasonThresholdBreached, t.Message)
		}
	}
	return j.Stop
}

// record writes a report into the step's status. It is false, and the run has
// failed, if the report cannot be merged.
func (r *run) record(i int, report *control.Report, done bool) bool {
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
		result.Histogram, result.ErrorSamples = "", nil
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
// is most of it, before the error samples. A status that is larger than what the
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
		result.ErrorSamples, samples = nil, 0
	}
	if len(result.Histogram) > left-samples {
		result.Histogram = ""
	}
}

// silence is how long this run has certainly sent nothing before step i. It is
// negative, which says that nothing is certain, when requests may be under way
// that no report tells of: those of a lost worker, those of a setup or a warm-up,
// questions that a client of the audit asks, and those of an earlier step that
// were given up while the target still had them. Nor is anything certain of instants
// that another process wrote, by a clock that may differ from this one's.
func (r *run) silence(i int, report *control.Report) time.Duration {
	step := &r.read.Steps[i]
	if r.out.Status.Workers.Lost > 0 || report.Reporting < r.read.Workers.Desired || step.Load.WarmUp != nil || !r.began(i) {
		return -1
	}
	start := step.StartTime.Time
	for j, before := range slices.Backward(r.read.Steps[:i]) {
		if before.Load.IsPause() {
			continue
		}
		if result := before.Result; result == nil || before.State == v1alpha1.StepCut || !r.began(j) || before.Load.WarmUp != nil || result.Outcomes.Unfinished+result.Outcomes.Timeout > 0 {
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
func (r *run) began(i int) bool { return !r.seen.Since.IsZero() && int32(i) >= r.seen.From }

// next starts step i, holds before it, or ends the run.
func (r *run) next(i int) {
	s := &r.out.Status
	if i >= len(s.Steps) && !r.appendProbe() {
		r.finish(i, v1alpha1.ReasonAllStepsRan)
		return
	}
	s.CurrentStep = int32(i)
	switch {
	case r.out.Status.StopTime != nil:
		r.finishCut()
	case r.lossStops():
		r.finish(i, v1alpha1.ReasonStoppedOnWorkerLoss)
	case r.spec.Suspend:
		s.Phase = v1alpha1.PhaseSuspended
		r.suspended(fmt.Sprintf("The run is held before step %s; its workers wait.", s.Steps[i].Name))
	case !s.Steps[i].Load.IsPause() && !r.gathered(i, isConnected):
	default:
		s.GoneWorkers = r.gone()
		r.startStep(i, r.startAfter(i))
	}
}

// isTooLate says whether step i would begin late: its instant has passed, and no worker
// may have been directed to begin it. That is so if the instant passed before this
// process directed the run, as the process that chose it may have ended before it
// directed workers; and if this process has not directed any, since what it wrote was
// read back late.
func (r *run) isTooLate(i int) bool {
	s := &r.read.Steps[i]
	late := s.StartTime.Time.Before(r.since()) || r.seen.Undirected && r.lateness(i) > 0
	begun := s.ReportedUntil != nil || r.seen.Step != nil && r.seen.Step.Step == int32(i) || slices.ContainsFunc(r.seen.Workers, func(w control.Worker) bool { return int(w.Begun) > i })
	return late && !begun && r.read.StopTime == nil
}

// lateness is how long ago the instant of step i was.
func (r *run) lateness(i int) time.Duration { return r.now.Sub(r.read.Steps[i].StartTime.Time) }

// startAnew chooses another start instant for step i, once every worker is connected
// and ready, so that it would have said that it began the step by the first instant.
// Until then no worker is directed to begin it.
//
// The instant is farther ahead than twice what the last one was missed by: an API server
// that is slow to bring back what was written does not put the step off for ever.
func (r *run) startAnew(i int) {
	r.out.Directive.Start = nil
	if !r.gathered(i, hasReported) {
		return
	}
	ahead := r.lead()
	if r.seen.Undirected && !r.read.Steps[i].StartTime.Time.Before(r.since()) {
		ahead = max(ahead, minLead+2*r.lateness(i))
	}
	r.startStep(i, r.now.Add(ahead))
}

// startAfter is when step i begins: exactly at the end of a pause before it,
// else as soon as all workers can know of it.
func (r *run) startAfter(i int) time.Time {
	steps, soonest := r.out.Status.Steps, r.now
	if !steps[i].Load.IsPause() {
		soonest = r.now.Add(r.lead())
	}
	if i == 0 {
		return soonest
	}
	before := &steps[i-1]
	if !before.Load.IsPause() || before.StartTime == nil {
		return soonest
	}
	return later(endOf(before), soonest)
}

// endOf is when a step that has begun is over at the latest, a pause exactly then.
func endOf(s *v1alpha1.StepStatus) time.Time {
	return s.StartTime.Add(lengthOf(s))
}

// lengthOf is how long a step takes at most, a pause exactly.
func lengthOf(s *v1alpha1.StepStatus) time.Duration {
	length := s.TimeLimit
	if s.Load.IsPause() {
		length = s.Load.Pause
	}
	if length == nil {
		return 0
	}
	return length.Duration
}

func (r *run) done(i int, state v1alpha1.StepState) {
	now := metav1.NewMicroTime(r.now)
	step := &r.out.Status.Steps[i]
	step.State = state
	step.CompletionTime = &now
	if step.Result != nil {
		results.Settle(step.Result)
	}
	r.out.Status.Spread = results.Spread(results.CompleteSteps(&r.out.Status))
}

func (r *run) skipFrom(i int) {
	for ; i < len(r.out.Status.Steps); i++ {
		r.out.Status.Steps[i].State = v1alpha1.StepSkipped
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
