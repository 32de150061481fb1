package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
)

// running carries the run from step to step.
func (r *run) running() {
	if a := r.read.Auditing; a != nil {
		r.auditAfter(a.Reason)
		return
	}
	if !r.grantAccess() {
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
	r.stopIfHeld()
	at, limited := deadline(r.read.StartTime, r.spec.ActiveDeadlineSeconds)
	if r.out.Status.StopTime == nil && (r.spec.Terminate || limited && !r.now.Before(at)) {
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
	isFinal := func(w exchange.Worker) bool { return report != nil && w.Final }
	awaited := count(r.workers, func(w exchange.Worker) bool {
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

// limit is until when a worker is waited for in step i. It is the step's own limit,
// or the cut's, but never before this process has been there for as long as workers
// need to find it. For a worker that is there, it counts the whole step anew from
// when this process took the run over: the clock by which another chose the start
// may have been another.
func (r *run) limit(i int, w exchange.Worker) time.Time {
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

// loadDone closes a step whose last report is in, or given up.
func (r *run) loadDone(i int, report *exchange.Report, isFinal func(exchange.Worker) bool) {
	s := &r.out.Status
	r.giveUp(func(w exchange.Worker) bool { return !isFinal(w) })
	s.Steps[i].MissingAtMost = r.missingAtMost(i, report)
	r.countStored(i, report)
	if by := r.abortedBy(); by != nil {
		r.aborted(i, report, by)
		return
	}
	if r.read.StopTime != nil || s.StopCause != nil {
		r.finishCut()
		return
	}
	if count(r.workers, isFinal) == 0 {
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

// silence is how long this run has certainly sent nothing before step i. It is
// negative, which says that nothing is certain, when requests may be under way
// that no report counts: those of a lost worker, those of a setup or a warm-up,
// questions that a client of the audit asks, and those of an earlier step that
// were given up while the target still had them. Nor is anything certain of instants
// that another process wrote, by a clock that may differ from this one's.
func (r *run) silence(i int, report *exchange.Report) time.Duration {
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
