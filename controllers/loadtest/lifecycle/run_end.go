package lifecycle

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
)

// finish ends a run that went as far as it was meant to, once its audits are made. Steps from
// i on are skipped.
func (r *running) finish(i int, reason string) {
	r.skipFrom(i)
	if !r.makeAudits(v1beta1.AuditAfter, reason) {
		return
	}
	s := &r.out.Status
	j := verdict.Final(r.spec, s)
	s.Verdict = j.Verdict
	s.MaxSustainedUsers, s.MaxSustainedRate, s.Why = j.Sustained.Users, j.Sustained.Rate, j.Why
	s.Phase = v1beta1.PhaseFinished
	r.judged(j)
	message := map[string]string{
		v1beta1.ReasonAllStepsRan:         "All steps ran.",
		v1beta1.ReasonStoppedOnBreach:     "A threshold was breached.",
		v1beta1.ReasonAborted:             "A threshold was breached while a step ran, and the step was cut.",
		v1beta1.ReasonStoppedOnWorkerLoss: "A worker was lost.",
		v1beta1.ReasonEndedWithOthers:     "All loads ended that are not in the background.",
		v1beta1.ReasonStoppedOnCutStep:    "A step did not run as planned.",
	}[reason]
	if slices.ContainsFunc(s.Steps, func(s v1beta1.StepStatus) bool { return s.State == v1beta1.StepSkipped }) {
		message += " The steps after it were skipped."
	}
	r.set(v1beta1.ConditionCarriedOut, metav1.ConditionTrue, reason, message)
	r.complete()
	text := fmt.Sprintf("Verdict %s: %s", j.Verdict, j.Message)
	if j.Verdict == v1beta1.VerdictPassed {
		r.event(string(j.Verdict), text)
	} else {
		r.warn(string(j.Verdict), text)
	}
}

func (r *running) judged(j verdict.Judgement) {
	r.set(v1beta1.ConditionThresholdsMet, j.ThresholdsMet, j.Reason, j.Message)
	if j.Generator == nil {
		return
	}
	status := metav1.ConditionTrue
	if !j.Generator.Healthy {
		status = metav1.ConditionFalse
	}
	r.set(v1beta1.ConditionGeneratorHealthy, status, j.Generator.Reason, j.Generator.Message)
}

// endsWithOthers says whether a load in the background is being ended as was planned.
func (r *inputs) endsWithOthers() bool {
	return r.seen.Parent != nil && r.seen.Parent.Background && r.read.Internal.StopTime != nil && !r.test.Spec.Terminate
}

// finishStopped ends a run that was stopped between two steps, before step i.
func (r *running) finishStopped(i int) {
	if r.endsWithOthers() {
		r.finish(i, v1beta1.ReasonEndedWithOthers)
		return
	}
	r.finishCut()
}

// finishCut ends a run that was stopped: by the user, the administrator or its deadline.
func (r *pass) finishCut() {
	if c := r.out.Status.Internal.StopCause; c != nil {
		r.fail(v1beta1.VerdictCanceled, c.Reason, c.Message+" What was measured is kept.")
		return
	}
	if r.spec.Terminate {
		r.cancel()
		return
	}
	limit := "activeDeadlineSeconds"
	if seconds := r.spec.ActiveDeadlineSeconds; seconds != nil { // it may have been taken back since
		limit = fmt.Sprintf("%s (%ds)", limit, *seconds)
	}
	r.fail(v1beta1.VerdictError, v1beta1.ReasonDeadlineExceeded, fmt.Sprintf("The run did not finish within %s; what was measured is kept.", limit))
}

func (r *pass) cancel() {
	message := "spec.terminate ended the run; what was measured is kept."
	if !r.test.Spec.Terminate { // but specOf
		message = fmt.Sprintf("LoadTest %s, which has the load, ended it; what was measured is kept.", r.seen.Parent.Name)
	}
	r.fail(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated, message)
}

// fail ends a run that could not go to its end.
func (r *pass) fail(v v1beta1.Verdict, reason, message string) {
	s := &r.out.Status
	s.Verdict = v
	s.Phase = v1beta1.PhaseFinished
	r.giveUpAudits()
	for i := range s.Steps {
		switch s.Steps[i].State {
		case v1beta1.StepPending:
			s.Steps[i].State = v1beta1.StepSkipped
		case v1beta1.StepRunning:
			r.endStep(i, v1beta1.StepCut)
		}
	}
	r.set(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown, v1beta1.ReasonNotFinished, "The run ended before it could be judged.")
	r.set(v1beta1.ConditionCarriedOut, metav1.ConditionFalse, reason, message)
	r.complete()
	r.warn(reason, message)
}

func (r *pass) complete() {
	if c := &r.out.Status.Workers; c.Silent > 0 { // and no longer needed
		c.Silent = 0
		r.workersCondition()
	}
	now := metav1.NewTime(r.now)
	r.out.Status.CompletionTime = &now
}
