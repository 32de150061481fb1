package world

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// The invariants.
const (
	terminalOnce    = "a run ends once"
	alwaysWoken     = "every state that is not terminal has a wake-up"
	neverLate       = "what can be decided is decided within seconds"
	wholePlan       = "a step is complete only when its plan was carried out"
	nothingLost     = "nothing is lost while a worker holds it"
	countsNeverFall = "counts never fall within a step"
	trulyPassed     = "a run passes only if it truly did"
	inTime          = "every run ends within its deadlines"
	trulyMissing    = "no more is missing than the status says"
	honestAudit     = "an audit finds what is true of a target that loses nothing"
	abortedOnce     = "an abort is neither forgotten nor repeated"
	writesNoInput   = "a pass writes to none of its inputs"
	// The archive of a step is what is too large for a status.
	archiveIsOfStatus = "the archive that a status names is stored, and is of its result"
	// What the administrator stops ends, and does not begin.
	stopHolds = "nothing begins or passes while the operator has read that runs are stopped"
	// The queue.
	inTurn         = "no run begins, or has a Job, before its turn"
	queuedOnce     = "a run that has begun is queued again only before its first step, to give way"
	terminates     = "a run that is to end does not begin"
	archiveIsNamed = "a step that is complete names its archive, or says why there is none"
	// What is there before a run and after it.
	hasBaseline = "a run that is compared begins with a copy of its baseline, and keeps it"
	resultsKept = "a LoadTest is deleted once its results are kept and its verdict is announced, or both were waited for"
	goesInTime  = "a run that has ended is deleted when its time to live is over"
	// Of a world without faults.
	comesToRest = "what is decided again of the same does not change"
	countsAddUp = "the counts of a result add up"
	startsOnce  = "a start instant is chosen once"
	saysHowItIs = "other programs read from the conditions how a run is"
)

// limit is the threshold of every story with faults.
const limit = 200 * time.Millisecond

// tolerablyLate is how long after its instant a worker may begin a step: users could
// not tell it from the noise of a node.
const tolerablyLate = 100 * time.Millisecond

// promptly is within what time a pass must come: the longest back-off and a little.
const promptly = 10 * time.Second

// checkWrite holds a status that was written to what must be true of any.
func (w *World) checkWrite(o *operator, before, after *v1beta1.LoadTest) {
	b, a := &before.Status, &after.Status
	if !w.instant {
		w.say("%s writes: workers %d ready, %d silent, %d lost", o.name, a.Workers.Ready, a.Workers.Silent, a.Workers.Lost)
	}
	w.tellChange(b, a)
	w.checkTerminal(before, after)
	if w.instant {
		w.checkTold(b, a)
		return
	}
	for _, audit := range a.Audits {
		w.checkAudit(&audit, a.Verdict)
	}
	for i := range a.Steps {
		if i < len(b.Steps) && b.Steps[i].Result != nil && a.StartTime != nil {
			w.checkCounts(&b.Steps[i], &a.Steps[i])
		}
		if a.Steps[i].State == v1beta1.StepComplete && (i >= len(b.Steps) || b.Steps[i].State != v1beta1.StepComplete) {
			w.checkComplete(int32(i), a)
		}
	}
	w.noteHold(b, a)
	w.checkAbort(b, a)
	w.checkStop(o, b, a)
	w.checkTurn(o, b, a)
	w.checkArchives(a)
	w.checkKept(a)
	w.checkBaseline(b, a)
	if a.Verdict == v1beta1.VerdictPassed && b.Verdict != a.Verdict {
		w.checkPassed(a)
	}
}

// checkTerminal holds a run that has ended to its end.
func (w *World) checkTerminal(before, after *v1beta1.LoadTest) {
	b, a := &before.Status, &after.Status
	if lifecycle.Finished(before) && (!lifecycle.Finished(after) || a.Verdict != b.Verdict || !equality.Semantic.DeepEqual(a.Steps, b.Steps)) {
		w.violated(terminalOnce, "verdict %s became %s", b.Verdict, a.Verdict)
	}
	carriedOut := meta.FindStatusCondition(a.Conditions, v1beta1.ConditionCarriedOut)
	over := lifecycle.Finished(after)
	if over != (carriedOut != nil) || over != (a.Verdict != "") || over != (a.CompletionTime != nil) {
		w.violated(terminalOnce, "CarriedOut %v, verdict %q, completionTime %v", carriedOut, a.Verdict, a.CompletionTime)
	}
	w.checkVerdict(a, carriedOut)
}

// checkVerdict holds conditions Passed and CarriedOut to the verdict.
func (w *World) checkVerdict(s *v1beta1.LoadTestStatus, carriedOut *metav1.Condition) {
	passed := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionPassed)
	want, ended := metav1.ConditionUnknown, false
	switch s.Verdict {
	case v1beta1.VerdictPassed:
		want = metav1.ConditionTrue
	case v1beta1.VerdictFailed:
		want = metav1.ConditionFalse
	case v1beta1.VerdictError, v1beta1.VerdictCanceled:
		ended = true
	}
	if passed == nil || passed.Status != want {
		w.violated(terminalOnce, "verdict %q, Passed %v", s.Verdict, passed)
	}
	if carriedOut != nil && ended != (carriedOut.Status == metav1.ConditionFalse) {
		w.violated(terminalOnce, "verdict %q, CarriedOut %v", s.Verdict, carriedOut)
	}
}

// checkAudit compares an audit with the target, which stores what it is sent, once.
func (w *World) checkAudit(a *v1beta1.AuditStatus, verdict v1beta1.Verdict) {
	if a.State == v1beta1.AuditFailed {
		w.violated(honestAudit, "%s", a.Message)
	}
	if verdict == v1beta1.VerdictPassed && (a.State != v1beta1.AuditPassed || *a.Before != filled || *a.After != w.stored()) {
		w.violated(honestAudit, "%s, of a target that has %d; the verdict is Passed", a.Message, w.stored())
	}
}

// checkAbort holds a threshold that has ended a run to it.
func (w *World) checkAbort(b, a *v1beta1.LoadTestStatus) {
	for n, t := range b.Thresholds {
		if t.AbortTime == nil {
			continue
		}
		if now := a.Thresholds[n]; !now.AbortTime.Equal(t.AbortTime) || now.State != t.State || now.Step != t.Step || !a.Internal.StopTime.Equal(b.Internal.StopTime) {
			w.violated(abortedOnce, "aborted at %v in step %s, then %v in step %s, stopped at %v", t.AbortTime, t.Step, now.AbortTime, now.Step, a.Internal.StopTime)
		}
		if a.Verdict != "" && a.Verdict != v1beta1.VerdictFailed {
			w.violated(abortedOnce, "it was aborted, and the verdict is %s", a.Verdict)
		}
	}
}

// checkStop holds an operator that has read a stop to it.
func (w *World) checkStop(o *operator, b, a *v1beta1.LoadTestStatus) {
	if b.Internal.StopCause != nil && b.Verdict == "" && a.Verdict != "" && a.Verdict != v1beta1.VerdictCanceled {
		w.violated(stopHolds, "it was stopped, and the verdict is %s", a.Verdict)
	}
	if !o.rules().Hold(o.now()).Ends() {
		return
	}
	if a.Verdict == v1beta1.VerdictPassed && b.Verdict == "" || b.StartTime == nil && a.StartTime != nil {
		w.violated(stopHolds, "verdict %q, taken up at %v", a.Verdict, a.StartTime)
	}
	for i := range a.Steps {
		if a.Steps[i].State == v1beta1.StepRunning && (i >= len(b.Steps) || b.Steps[i].State != v1beta1.StepRunning) {
			w.violated(stopHolds, "step %s begins", a.Steps[i].Name)
		}
	}
}

// checkTurn holds a run to the queue. Two operators at once, which the lease excludes, could
// exceed a limit by what both let begin.
func (w *World) checkTurn(o *operator, b, a *v1beta1.LoadTestStatus) {
	hasStep := slices.ContainsFunc(b.Steps, func(s v1beta1.StepStatus) bool { return s.StartTime != nil })
	gaveWay := a.Internal.GaveWayAfter != nil && (b.Internal.GaveWayAfter == nil || *a.Internal.GaveWayAfter != *b.Internal.GaveWayAfter)
	if a.Phase == v1beta1.PhaseQueued && (a.StartTime != nil || b.StartTime != nil && (hasStep || !gaveWay)) {
		w.violated(queuedOnce, "it has begun at %v, and is queued", b.StartTime)
	}
	if b.StartTime != nil || a.StartTime == nil {
		return
	}
	if w.api.lt.Spec.Terminate {
		w.violated(terminates, "it begins at %v", a.StartTime)
	}
	isAlone := func() bool { return !slices.ContainsFunc(w.all, func(p *operator) bool { return p != o && p.alive }) }
	for _, r := range w.api.others {
		if r.State == queue.Begun && isAlone() {
			w.violated(inTurn, "it begins while %s has the place", r.UID)
		}
	}
}

// checkJob holds the Job to the queue: it is for a run that has begun by what the operator
// read.
func (w *World) checkJob(o *operator) {
	if o.cache.lt.Status.StartTime == nil {
		w.violated(inTurn, "%s creates the Job of a run that has not begun", o.name)
	}
}

// checkQueued holds a pass over a run that waits to it.
func (w *World) checkQueued(o *operator, d lifecycle.Decision) {
	if d.Status.Phase == v1beta1.PhaseQueued && d.Job != lifecycle.JobDelete && (o.cache.job == lifecycle.JobPresent || o.cache.job == lifecycle.JobFinished) {
		w.violated(inTurn, "%s leaves the Job of a run that waits", o.name)
	}
}

// checkArchives compares the archives that a status names with its results.
func (w *World) checkArchives(s *v1beta1.LoadTestStatus) {
	named := map[string]v1beta1.ResultRef{}
	for _, ref := range s.ResultRefs {
		named[ref.Step] = ref
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		ref, ok := named[step.Name]
		if step.State == v1beta1.StepComplete && !step.Load.IsPause() && (!ok || (ref.ConfigMap == "") == (ref.Message == "")) {
			w.violated(archiveIsNamed, "step %s: %+v", step.Name, ref)
		}
		if ref.ConfigMap == "" {
			continue
		}
		want := archive{int32(i), step.WorkersReporting, step.Result.Due, step.Result.Sent}
		if got, ok := w.api.archives[ref.ConfigMap]; !ok || got != want {
			w.violated(archiveIsOfStatus, "step %s names %s, which is %+v (stored: %t), want %+v", step.Name, ref.ConfigMap, got, ok, want)
		}
	}
}

func (w *World) checkCounts(before, after *v1beta1.StepStatus) {
	switch {
	case after.Result == nil:
		w.violated(countsNeverFall, "the result of step %s is gone", after.Name)
	case after.Result.Sent < before.Result.Sent || after.Result.Due < before.Result.Due:
		w.violated(countsNeverFall, "step %s: %d sent of %d due, after %d of %d", after.Name, after.Result.Sent, after.Result.Due, before.Result.Sent, before.Result.Due)
	}
}

// checkComplete compares a step that is called complete with its plan and the target.
func (w *World) checkComplete(i int32, s *v1beta1.LoadTestStatus) {
	step := &s.Steps[i]
	if step.Load.IsPause() {
		return
	}
	r := step.Result
	if r == nil || step.Load.Requests > 0 && r.Due != step.Load.Requests || r.Due != r.Sent || r.Sent != w.served[i] || step.WorkersReporting != s.Workers.Desired {
		w.violated(wholePlan, "step %s of %d requests, of which the target had %d: %d workers report %+v", step.Name, step.Load.Requests, w.served[i], step.WorkersReporting, r)
		return
	}
	for _, j := range r.Journeys {
		if j.Completed != r.Sent {
			w.violated(wholePlan, "step %s: %d of %d journeys are completed", step.Name, j.Completed, r.Sent)
		}
	}
}

// checkPassed compares a verdict with what the target had.
func (w *World) checkPassed(s *v1beta1.LoadTestStatus) {
	if w.Latency > limit {
		w.violated(trulyPassed, "responses took %v, the threshold is %v", w.Latency, limit)
	}
	if w.latest > tolerablyLate {
		w.violated(trulyPassed, "a worker began a step %v late", w.latest)
	}
	if s.Environment != nil && len(s.Environment.Configurations) > 1 {
		w.violated(trulyPassed, "the target was changed: %+v", s.Environment.Configurations)
	}
	for i, step := range s.Steps {
		if step.State != v1beta1.StepComplete || step.Load.Requests > 0 && w.served[int32(i)] != step.Load.Requests {
			w.violated(trulyPassed, "step %s is %s; the target had %d requests of %d", step.Name, step.State, w.served[int32(i)], step.Load.Requests)
		}
	}
}

// checkWake holds a pass that was carried out to what must wake the run after it.
func (w *World) checkWake(o *operator, d lifecycle.Decision, written bool) {
	if w.instant {
		return
	}
	over := lifecycle.Finished(&v1beta1.LoadTest{Status: d.Status})
	held := meta.IsStatusConditionTrue(d.Status.Conditions, v1beta1.ConditionSuspended)
	if !over && !held && !written && d.RequeueAfter == 0 {
		w.violated(alwaysWoken, "%s: phase %s", o.name, d.Status.Phase)
	}
	o.passed, o.behind = w.now, time.Time{}
}

// checkPrompt looks for a run that would go on, if only a pass came.
func (w *World) checkPrompt() {
	o := w.leader
	if o == nil || o.queued || w.noticeLost || w.now.Before(w.apiAway.Add(promptly)) || w.now.Sub(o.passed) < promptly || o.cache.lt == nil || w.api.deleted {
		return
	}
	o.passed = w.now // to look again after as long
	if o.cache.revision != w.api.revision {
		return // the watch will bring it
	}
	lt := w.api.lt.DeepCopy()
	seen := o.observe()
	seen.Place, seen.PlaceAwaited = o.wouldBegin(), o.isAwaited()
	d := lifecycle.Decide(lt, o.rules(), seen, o.now())
	if !progress(&lt.Status, d) {
		o.behind = time.Time{}
		return
	}
	if !o.behind.IsZero() && !w.now.Before(o.behind.Add(promptly)) {
		w.violated(neverLate, "a pass would have something to do since %.3fs, and none is due before %.3fs", o.behind.Sub(Began).Seconds(), o.wake.Sub(Began).Seconds())
	}
	if o.behind.IsZero() {
		o.behind = w.now
	}
}

// progress says whether a decision does more than find other words.
func progress(s *v1beta1.LoadTestStatus, d lifecycle.Decision) bool {
	if d.Job != lifecycle.JobKeep || d.Delete || d.Status.Phase != s.Phase || d.Status.Verdict != s.Verdict || len(d.Status.Steps) != len(s.Steps) {
		return true
	}
	for i := range s.Steps {
		if s.Steps[i].State != d.Status.Steps[i].State {
			return true
		}
	}
	return false
}

// checkEnd holds the end of a run to what must be true of it.
func (w *World) checkEnd() {
	if len(w.violations) > 0 {
		return
	}
	s := &w.api.lt.Status
	if w.mayBeHeld(s) {
		return
	}
	if !lifecycle.Finished(w.api.lt) {
		w.violated(inTime, "it has not ended at %.0fs, after %d events", w.now.Sub(Began).Seconds(), w.events)
		return
	}
	w.checkMissing(s)
	w.checkGone()
	want := w.ending
	if want == nil {
		return // this is the run that says how the story ends
	}
	if took, allowed := s.CompletionTime.Sub(Began)-w.held, want.took+w.allowance(); took > allowed {
		w.violated(inTime, "it ended after %v and %v in which it was held, %v are allowed", took, w.held, allowed)
	}
	if w.harmed || w.jumped && w.isolated || w.timely || w.beganLate(s) {
		return
	}
	if got := endingOf(w); got.verdict != want.verdict || want.whole && !equality.Semantic.DeepEqual(got.sent, want.sent) {
		w.violated(nothingLost, "verdict %s with %v sent, %s with %v without a fault; %s", got.verdict, got.sent, want.verdict, want.sent, explanation(s))
	}
}

// beganLate says whether the run is Inconclusive as a worker began a step late that was cut off: no
// worker can be directed that cannot be reached.
func (w *World) beganLate(s *v1beta1.LoadTestStatus) bool {
	return w.unreachable && w.latest > tolerablyLate && s.Verdict == v1beta1.VerdictInconclusive
}

// noteHold counts the time in which the run is held: a fault may delay its start until
// runs are stopped, or until quiet hours.
func (w *World) noteHold(before, after *v1beta1.LoadTestStatus) {
	was, is := before.Phase == v1beta1.PhaseSuspended, after.Phase == v1beta1.PhaseSuspended
	switch {
	case is && !was:
		w.heldSince = w.now
	case was && !is:
		w.held += w.now.Sub(w.heldSince)
	}
}

// mayBeHeld reports whether the run has not begun, and says that the administrator
// stopped runs, for good.
func (w *World) mayBeHeld(s *v1beta1.LoadTestStatus) bool {
	c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionSuspended)
	hold := w.policy.For(w.api.lt.Namespace).Hold(w.now)
	return s.Phase == v1beta1.PhaseSuspended && c != nil && c.Reason == v1beta1.ReasonStopped && hold != nil && hold.Cause == policy.Stopped
}

// checkMissing compares what steps lack with what the target had of them.
func (w *World) checkMissing(s *v1beta1.LoadTestStatus) {
	for i, step := range s.Steps {
		if step.MissingAtMost == nil || step.Result == nil {
			continue
		}
		if missing := w.served[int32(i)] - step.Result.Sent; missing > *step.MissingAtMost {
			w.violated(trulyMissing, "the target had %d requests of step %s, %d are counted and at most %d missing", w.served[int32(i)], step.Name, step.Result.Sent, *step.MissingAtMost)
		}
	}
}

// allowance is how much longer a run may take than without a fault.
func (w *World) allowance() time.Duration {
	d := time.Minute + w.slack
	for _, step := range w.api.lt.Status.Steps {
		if (w.harmed || w.noticeLost) && step.TimeLimit != nil {
			d += step.TimeLimit.Duration
		}
	}
	if (w.harmed || w.noticeLost) && w.api.lt.Spec.StartDeadlineSeconds != nil {
		d += time.Duration(*w.api.lt.Spec.StartDeadlineSeconds) * time.Second
	}
	return d
}

// ending is how a run ended.
type ending struct {
	verdict v1beta1.Verdict
	whole   bool
	sent    []int64
	events  int
	took    time.Duration
}

func endingOf(w *World) *ending {
	s := &w.api.lt.Status
	e := &ending{verdict: s.Verdict, whole: true, took: s.CompletionTime.Sub(Began) - w.held}
	for _, step := range s.Steps {
		if step.State != v1beta1.StepComplete {
			e.whole = false
		}
		if step.Result != nil {
			e.sent = append(e.sent, step.Result.Sent)
		}
	}
	return e
}

func explanation(s *v1beta1.LoadTestStatus) string {
	if c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionFinished); c != nil {
		return c.Message
	}
	return ""
}
