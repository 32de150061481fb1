package verdict

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
)

// Judgement is the judgement of a run that went to its end.
type Judgement struct {
	// Verdict is Passed, Failed or Inconclusive.
	Verdict v1beta1.Verdict
	// ThresholdsMet, Reason and Message are the condition ThresholdsMet.
	ThresholdsMet metav1.ConditionStatus
	// Reason is a reason of that condition.
	Reason string
	// Message is the sentence that explains the verdict.
	Message string
	// Generator is nil when no step has a result.
	Generator *Generator
	// Sustained is the largest load up to which every threshold was kept.
	Sustained Sustained
	// Why is what was at its limit in the first step that was not kept; empty: nothing is known.
	Why string
}

// Generator is the condition GeneratorHealthy.
type Generator struct {
	// Healthy is false when the generator's own delay shows in a step.
	Healthy bool
	// Reason is a reason of that condition.
	Reason string
	// Message is a sentence.
	Message string
}

// Final is the judgement of a whole run, from its status alone.
func Final(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus) Judgement {
	run := run{
		spec: spec, status: status,
		whole: results.CompleteSteps(status), thresholds: status.Thresholds,
	}
	j := run.judgement()
	j.Generator = run.generator()
	j.Sustained, j.Why = run.sustained(), run.why()
	return j
}

type run struct {
	spec   *v1beta1.LoadTestSpec
	status *v1beta1.LoadTestStatus
	// whole are the steps of the status, without the results that are in doubt.
	whole      []v1beta1.StepStatus
	thresholds []v1beta1.ThresholdStatus
}

func (r run) judgement() Judgement {
	if message := r.failedAudits(); message != "" {
		return Judgement{
			Verdict: v1beta1.VerdictFailed, ThresholdsMet: metav1.ConditionFalse,
			Reason: v1beta1.ReasonAuditFailed, Message: message,
		}
	}
	if message := r.breach(); message != "" {
		if r.wentOn() != "" {
			message += " " + r.lostWorkers()
		}
		return Judgement{
			Verdict: v1beta1.VerdictFailed, ThresholdsMet: metav1.ConditionFalse,
			Reason: r.breachReason(), Message: message,
		}
	}
	// From what explains most to what is explained by it.
	for _, doubt := range []func() (reason, message string){
		func() (string, string) { return v1beta1.ReasonWorkerLost, r.lostWorkers() },
		func() (string, string) { return v1beta1.ReasonStepCut, r.cutSteps() },
		func() (string, string) { return v1beta1.ReasonTargetChanged, r.targetChanged() },
		r.undecided,
		func() (string, string) { return v1beta1.ReasonInconclusive, r.undecidedAudits() },
	} {
		if reason, message := doubt(); message != "" {
			return Judgement{
				Verdict: v1beta1.VerdictInconclusive, ThresholdsMet: metav1.ConditionUnknown,
				Reason: reason, Message: message,
			}
		}
	}
	return Judgement{
		Verdict: v1beta1.VerdictPassed, ThresholdsMet: metav1.ConditionTrue,
		Reason: v1beta1.ReasonThresholdsKept, Message: r.kept(),
	}
}

// kept says which thresholds were kept.
func (r run) kept() string {
	if s := r.status.Search; s != nil {
		return joined(s.Message, r.notCompared())
	}
	n, byDefault := 0, false // what was left out, or was about nothing that was sent, was not judged
	for _, t := range r.thresholds {
		if t.State == v1beta1.ThresholdPassed {
			n, byDefault = n+1, byDefault || t.Default
		}
	}
	kept := fmt.Sprintf("All %d thresholds were kept", n)
	switch n {
	case 1:
		return joined("The threshold was kept.", r.notCompared(), r.exceptions(), r.growing())
	case 2:
		kept = "Both thresholds were kept"
	}
	if byDefault {
		kept += ", defaults included"
	}
	return joined(kept+".", r.notCompared(), r.exceptions(), r.growing())
}

// breach is why the target has failed.
func (r run) breach() string {
	if r.status.Search != nil {
		return r.failedSearch()
	}
	return r.firstBreach()
}

// firstBreach is the sentence of the first breached threshold, in the spec's order.
func (r run) firstBreach() string {
	message, more := "", 0
	for _, t := range r.thresholds {
		switch {
		case t.State != v1beta1.ThresholdFailed:
		case message == "":
			message = t.Message
		default:
			more++
		}
	}
	switch more {
	case 0:
	case 1:
		message += " One more threshold was breached."
	default:
		message += fmt.Sprintf(" %d more thresholds were breached.", more)
	}
	return message
}

func (r run) lostWorkers() string {
	w := r.status.Workers
	if w.Lost == 0 {
		return ""
	}
	were := "was"
	if w.Lost > 1 {
		were = "were"
	}
	message := fmt.Sprintf("%d of %d workers %s lost%s; %s.", w.Lost, w.Desired, were, r.wentOn(), r.missing())
	if cut := r.cutSteps(); cut != "" {
		message += " " + cut
	}
	return message
}

// missing says how much of what was sent the result leaves out, of the steps that were
// cut: one that was complete lacks nothing.
func (r run) missing() string {
	most := new(int64)
	for _, step := range r.ran() {
		switch {
		case step.Load.IsPause(), step.State == v1beta1.StepComplete, most == nil:
		case step.MissingAtMost == nil:
			most = nil
		default:
			*most += *step.MissingAtMost
		}
	}
	switch {
	case most == nil:
		return "the result may lack requests that were sent, and it is not known how many"
	case *most == 0:
		return "no sent request is missing from the result"
	case *most == 1:
		return "at most 1 request is missing from the result"
	default:
		return fmt.Sprintf("at most %d requests are missing from the result", *most)
	}
}

// cutSteps is about the first step that did not run as planned.
func (r run) cutSteps() string {
	for _, s := range r.ran() {
		switch {
		case s.Load.IsPause():
		case s.State == v1beta1.StepCut && s.Message != "":
			return fmt.Sprintf("Step %s did not run as planned: %s", s.Name, s.Message)
		case s.State == v1beta1.StepCut:
			return fmt.Sprintf("Step %s was cut before its end.", s.Name)
		case s.WorkersReporting < r.status.Workers.Desired:
			return fmt.Sprintf("Step %s has the measurements of %d of %d workers.", s.Name, s.WorkersReporting, r.status.Workers.Desired)
		}
	}
	return ""
}

// breachReason is that of the first threshold that was breached. A search has no threshold that
// decides it.
func (r run) breachReason() string {
	for _, t := range r.thresholds {
		if t.State == v1beta1.ThresholdFailed && r.status.Search == nil {
			return cmp.Or(t.Reason, v1beta1.ReasonThresholdBreached)
		}
	}
	return v1beta1.ReasonThresholdBreached
}

// undecided is why a threshold could not be judged.
func (r run) undecided() (reason, message string) {
	reason = v1beta1.ReasonInconclusive
	if s := r.status.Search; s != nil {
		if s.State == v1beta1.SearchBelowMin {
			reason = v1beta1.ReasonLoadNotKept
		}
		return reason, r.undecidedSearch()
	}
	judged := false
	for i, t := range r.thresholds {
		switch t.State {
		case v1beta1.ThresholdInconclusive:
			return cmp.Or(t.Reason, reason), t.Message
		case v1beta1.ThresholdPending:
			if i >= len(r.spec.Thresholds) {
				continue // what a default would be about was not sent
			}
			if r.isLeftOut(i) {
				continue
			}
			return reason, notJudged(&t, &r.spec.Thresholds[i])
		}
		judged = true
	}
	if !judged {
		if what := r.notCompared(); what != "" {
			return reason, joined("No threshold was judged.", what)
		}
		return reason, "No threshold was judged: no step ran."
	}
	return "", ""
}

// notJudged is why a threshold of the spec has no result.
func notJudged(t *v1beta1.ThresholdStatus, threshold *v1beta1.Threshold) string {
	switch {
	case t.Message != "":
		return t.Message + " The other repetitions did not run to their end."
	case threshold.IsRelative():
		return fmt.Sprintf("Threshold %s was not judged: no matching step completed all its repetitions.", t.Name)
	case len(threshold.Steps) > 0:
		return fmt.Sprintf("Threshold %s was not judged: none of its steps ran.", t.Name)
	case threshold.UpToUsers != nil:
		return fmt.Sprintf("Threshold %s was not judged: no step that ran has at most %d users (upToUsers).", t.Name, *threshold.UpToUsers)
	}
	return fmt.Sprintf("Threshold %s was not judged: no step ran.", t.Name)
}

// ran are the steps that were not skipped, pauses included, by their index:
// skipped steps are at the end.
func (r run) ran() []v1beta1.StepStatus {
	for i, s := range r.status.Steps {
		if s.State != v1beta1.StepComplete && s.State != v1beta1.StepCut {
			return r.status.Steps[:i]
		}
	}
	return r.status.Steps
}

func (r run) generator() *Generator {
	var g *Generator
	steps := r.ran()
	if r.status.Search != nil && len(steps) > 0 {
		steps = steps[len(steps)-1:] // it relies on no probe before in which the generator was the limit
	}
	for _, s := range steps {
		if s.Result == nil || s.Result.Generator == nil {
			continue
		}
		if !s.Result.Generator.Healthy {
			return &Generator{Reason: s.Result.Generator.Reason, Message: s.Result.Generator.Message}
		}
		g = &Generator{Healthy: true, Reason: v1beta1.ReasonHealthy, Message: "The generator was not the limit in any step."}
	}
	for _, t := range r.thresholds {
		if g != nil && t.Reason == v1beta1.ReasonGeneratorUncertain { // of a delay whose cause is not known
			return &Generator{Reason: v1beta1.ReasonScheduleLag, Message: t.Message}
		}
	}
	return g
}
