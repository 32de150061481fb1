package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/verdict"
)

// running carries the run from step to step.
func (r *run) running() {
	s := &r.out.Status
	lost := count(r.seen.Workers, func(w control.Worker) bool { return isLost(w, r.seen.Job, r.now) })
	s.Workers.Lost = lost
	s.Workers.Ready = count(r.seen.Workers, func(w control.Worker) bool {
		return w.Connected && w.Ready && !isLost(w, r.seen.Job, r.now)
	})
	r.workersCondition(lost)
	r.cutIfAsked()

	i := r.current()
	switch {
	case i == len(r.read.Steps), r.read.Steps[i].State != v1alpha1.StepRunning:
		r.next(i) // held between two steps
	case r.read.Steps[i].Load.IsPause():
		r.pause(i)
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

func (r *run) workersCondition(lost int32) {
	desired := r.read.Workers.Desired
	if lost == 0 {
		r.set(v1alpha1.ConditionWorkersReady, metav1.ConditionTrue, v1alpha1.ReasonAllReady, fmt.Sprintf("All %s ready.", workers(desired)))
		return
	}
	if lost == r.read.Workers.Lost {
		return // said when it happened, with the pod that is gone by now
	}
	message := fmt.Sprintf("%d of %s lost.", lost, workers(desired))
	for n, w := range r.seen.Workers {
		if w.Pod == control.PodEnded && w.PodMessage != "" {
			message = fmt.Sprintf("%d of %s lost; worker %d: %s", lost, workers(desired), n, sentence(w.PodMessage))
			break
		}
	}
	r.warn(v1alpha1.ReasonWorkerLost, message)
	r.set(v1alpha1.ConditionWorkersReady, metav1.ConditionFalse, v1alpha1.ReasonWorkerLost, message)
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
	if r.now.Before(end.Add(-lead)) {
		r.wake(end.Add(-lead))
		return
	}
	r.done(i, v1alpha1.StepComplete)
	r.next(i + 1)
}

// load follows a step that sends load until its last report is in.
func (r *run) load(i int) {
	read := r.read.Steps[i]
	report := r.seen.Step
	if report != nil && int(report.Step) != i {
		report = nil // still of the step before, which was not acknowledged yet
	}
	isFinal := func(w control.Worker) bool { return report != nil && w.Final }
	final := count(r.seen.Workers, isFinal)
	awaited := count(r.seen.Workers, func(w control.Worker) bool { return !isFinal(w) && !isLost(w, r.seen.Job, r.now) })
	limit := endOf(&read)
	if r.read.StopTime != nil {
		limit = earlier(limit, r.read.StopTime.Add(cutGrace))
	}
	done := awaited == 0 || !r.now.Before(limit)

	if report != nil && (done || read.ReportedUntil == nil || report.Until.Sub(read.ReportedUntil.Time) >= refresh) {
		if !r.record(i, report, done) {
			return
		}
	}
	if !done {
		r.wake(limit)
		r.wakeForLoss()
		return
	}
	r.loadDone(i, report, final)
}

// loadDone closes a step whose last report is in, or given up.
func (r *run) loadDone(i int, report *control.Report, final int32) {
	s := &r.out.Status
	missing := count(r.seen.Workers, func(w control.Worker) bool { return isLost(w, r.seen.Job, r.now) && (report == nil || !w.Final) })
	silent := s.Workers.Desired - missing - final
	if silent > 0 { // neither lost nor heard of: the limit has passed
		s.Workers.Lost += silent
		r.workersCondition(s.Workers.Lost)
	}
	if r.read.StopTime != nil {
		r.finishCut()
		return
	}
	if final == 0 {
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonNoWorkers, fmt.Sprintf("Every worker was lost in step %s.", s.Steps[i].Name))
		return
	}
	r.done(i, v1alpha1.StepComplete)
	stop := r.judge(i, report)
	switch {
	case s.Workers.Lost > 0:
		r.finish(i+1, v1alpha1.ReasonStoppedOnWorkerLoss)
	case stop:
		r.finish(i+1, v1alpha1.ReasonStoppedOnBreach)
	default:
		r.next(i + 1)
	}
}

// judge folds a finished step, whose report is recorded, into the thresholds.
func (r *run) judge(i int, report *control.Report) (stop bool) {
	s := &r.out.Status
	j := verdict.Judge(r.spec, s, i, report.Merged)
	s.Thresholds, s.Steps[i].ThresholdState = j.Thresholds, j.Step
	for n, t := range s.Thresholds {
		if t.State == v1alpha1.ThresholdFailed && (n >= len(r.read.Thresholds) || r.read.Thresholds[n].State != t.State) {
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
	r.trim(i, result)
	until := metav1.NewMicroTime(report.Until)
	step.Result = result
	step.ReportedUntil = &until
	step.WorkersReporting = report.Reporting
	step.Window = &metav1.Duration{Duration: merged.Window.Round(time.Microsecond)}
	if !report.Merged.FirstStart.IsZero() {
		skew := report.Merged.LastStart.Sub(report.Merged.FirstStart)
		step.StartSkew = &metav1.Duration{Duration: skew.Round(time.Microsecond)}
	}
	return true
}

// trim leaves out of step i's result what there is no room for: the histogram, which
// is most of it, before the error samples. A status that is larger than what the
// cluster stores of an object could never be written, and the run would never end.
func (r *run) trim(i int, result *v1alpha1.StepResult) {
	left := room(r.test, r.read.Steps)
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
// were given up while the target still had them.
func (r *run) silence(i int, report *control.Report) time.Duration {
	step := &r.read.Steps[i]
	if r.out.Status.Workers.Lost > 0 || report.Reporting < r.read.Workers.Desired || step.Load.WarmUp != nil {
		return -1
	}
	start := step.StartTime.Time
	for _, before := range slices.Backward(r.read.Steps[:i]) {
		if before.Load.IsPause() {
			continue
		}
		if result := before.Result; result == nil || before.Load.WarmUp != nil || result.Outcomes.Unfinished+result.Outcomes.Timeout > 0 {
			return -1
		}
		return max(0, start.Sub(before.CompletionTime.Time))
	}
	if r.spec.Setup != nil || asksAsClient(r.spec) {
		return -1
	}
	// startTime is kept in whole seconds, cut off: it may be up to 1 s too early.
	return max(0, start.Sub(r.read.StartTime.Time)-time.Second)
}

// wakeForLoss wakes when the next silent worker would count as lost.
func (r *run) wakeForLoss() {
	for _, w := range r.seen.Workers {
		if !w.Final && !w.Connected && !w.LastSeen.IsZero() {
			r.wake(w.LastSeen.Add(lostAfter + time.Millisecond))
		}
	}
}

// next starts step i, holds before it, or ends the run.
func (r *run) next(i int) {
	s := &r.out.Status
	if i >= len(s.Steps) {
		r.finish(i, v1alpha1.ReasonAllStepsRan)
		return
	}
	s.CurrentStep = int32(i)
	switch {
	case r.out.Status.StopTime != nil:
		r.finishCut()
	case s.Workers.Lost > 0:
		r.finish(i, v1alpha1.ReasonStoppedOnWorkerLoss)
	case r.spec.Suspend:
		s.Phase = v1alpha1.PhaseSuspended
		r.suspended(fmt.Sprintf("The run is held before step %s; its workers wait.", s.Steps[i].Name))
	default:
		r.startStep(i, r.startAfter(i))
	}
}

// startAfter is when step i begins: exactly at the end of a pause before it,
// else as soon as all workers can know of it.
func (r *run) startAfter(i int) time.Time {
	soonest := r.now
	if !r.read.Steps[i].Load.IsPause() {
		soonest = r.now.Add(lead)
	}
	if i == 0 {
		return soonest
	}
	before := &r.read.Steps[i-1]
	if !before.Load.IsPause() || before.StartTime == nil {
		return soonest
	}
	return later(endOf(before), soonest)
}

// endOf is when a step that has begun is over at the latest, a pause exactly then.
func endOf(s *v1alpha1.StepStatus) time.Time {
	length := s.TimeLimit
	if s.Load.IsPause() {
		length = s.Load.Pause
	}
	if length == nil {
		return s.StartTime.Time
	}
	return s.StartTime.Add(length.Duration)
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
