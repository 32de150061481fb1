package world

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Run lets everything happen in a world without faults: time jumps from one event to the
// next, and after each the run is decided until nothing changes. It returns the story of the
// run; err says which invariants it violates, or that it does not come to an end.
func (w *World) Run() (story string, err error) {
	const bound = 10_000
	for range bound {
		w.settle()
		wake := w.leader.wake
		switch {
		case len(w.violations) > 0:
			return w.text.String(), errors.New(strings.Join(w.violations, "; "))
		case w.api.deleted:
			return w.text.String(), nil
		case len(w.queue) > 0 && (wake.IsZero() || !w.queue[0].at.After(wake)):
			w.next().what()
		case !wake.IsZero():
			w.now = wake
		default:
			return w.text.String(), nil
		}
	}
	return w.text.String(), errors.New("the run does not come to an end")
}

// settle decides and writes until nothing changes.
func (w *World) settle() {
	const bound = 20
	for range bound {
		version := w.api.version
		w.leader.cache, w.leader.wake = w.api.copy(), time.Time{}
		w.leader.pass()
		if w.api.deleted || w.api.version == version {
			return
		}
	}
	w.violated(comesToRest, "the status changes in %d passes at the same instant", bound)
}

// tellChange puts into the story what a person would notice.
func (w *World) tellChange(before, after *v1beta1.LoadTestStatus) {
	if before.Phase != after.Phase {
		w.say("phase %s", after.Phase)
	}
	w.tellConditions(before.Conditions, after.Conditions)
	for i := range after.Steps {
		var old v1beta1.StepStatus
		if i < len(before.Steps) {
			old = before.Steps[i]
		}
		w.tellStep(&old, &after.Steps[i], after.Workers.Desired)
	}
	for i, th := range after.Thresholds {
		if th.State != v1beta1.ThresholdPending && before.Thresholds[i].State != th.State {
			w.say("threshold %s is %s: %s", th.Name, th.State, th.Message)
		}
	}
	for i, a := range after.Audits {
		if i < len(before.Audits) && a.State != before.Audits[i].State && a.State != v1beta1.AuditPending {
			w.say("audit %s is %s: %s", a.Name, a.State, a.Message)
		}
	}
	w.tellSpread(before.Spread, after.Spread)
	if before.Verdict != after.Verdict {
		w.say("verdict %s", after.Verdict)
	}
}

func (w *World) tellConditions(before, after []metav1.Condition) {
	for _, c := range after {
		old := meta.FindStatusCondition(before, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message {
			w.say("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, c := range before {
		if meta.FindStatusCondition(after, c.Type) == nil {
			w.say("%s is gone", c.Type)
		}
	}
}

func (w *World) tellStep(old, s *v1beta1.StepStatus, workers int32) {
	if (old.State != s.State || !s.StartTime.Equal(old.StartTime)) && s.State != v1beta1.StepPending {
		w.say("step %s is %s%s", s.Name, s.State, at(s.StartTime, s.State))
	}
	if s.Result != nil && (old.Result == nil || old.Result.Sent != s.Result.Sent) {
		w.say("step %s: %d sent of %d due%s, %d of %d workers reporting", s.Name, s.Result.Sent, s.Result.Due, unanswered(s.Result), s.WorkersReporting, workers)
	}
}

func (w *World) tellSpread(before, after []v1beta1.SpreadStatus) {
	for i, s := range after {
		if i >= len(before) || before[i].Repetitions != s.Repetitions {
			w.say("step %s, %d repetitions: p95 from %s to %s, in the middle %s", s.Name, s.Repetitions,
				s.P95.Min.Duration, s.P95.Max.Duration, s.P95.Median.Duration)
		}
	}
}

// unanswered says what is in flight, and what failed.
func unanswered(r *v1beta1.StepResult) string {
	text := ""
	if r.InFlight > 0 {
		text += fmt.Sprintf(", %d in flight", r.InFlight)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed", r.Failed)
	}
	return text
}

func at(t *metav1.MicroTime, state v1beta1.StepState) string {
	if t == nil || state != v1beta1.StepRunning {
		return ""
	}
	return fmt.Sprintf(", from %.3fs", t.Sub(Began).Seconds())
}

// checkTold holds a status of a world without faults to what must always be true.
func (w *World) checkTold(before, after *v1beta1.LoadTestStatus) {
	for _, terminal := range []string{v1beta1.ConditionCarriedOut, v1beta1.ConditionPassed, v1beta1.ConditionFinished, v1beta1.ConditionStalled} {
		if meta.IsStatusConditionTrue(before.Conditions, terminal) && !meta.IsStatusConditionTrue(after.Conditions, terminal) {
			w.violated(terminalOnce, "%s flipped back", terminal)
		}
	}
	w.checkKstatus()
	for i := range after.Steps {
		w.checkSum(&after.Steps[i])
		if i < len(before.Steps) && before.Steps[i].StartTime != nil && !before.Steps[i].StartTime.Equal(after.Steps[i].StartTime) {
			w.violated(startsOnce, "step %d: its start instant was chosen twice", i)
		}
	}
}

// checkSum adds up the counts of a step's result.
func (w *World) checkSum(s *v1beta1.StepStatus) {
	r := s.Result
	if r == nil {
		return
	}
	o := r.Outcomes
	sum := o.Success + o.RateLimited + o.ClientError + o.ServerError + o.UnexpectedStatus + o.Timeout + o.Refused + o.Reset + o.DNS + o.TLS + o.BadResponse + o.Unfinished + o.Other + o.BrokenOff + o.Stalled + o.EndedEarly
	if sum+r.InFlight != r.Sent || r.Failed != sum-r.Expected || r.Due != r.Sent+r.Unsent {
		w.violated(countsAddUp, "step %s: outcomes add up to %d of %d sent, with %d in flight; failed %d, due %d, unsent %d", s.Name, sum, r.Sent, r.InFlight, r.Failed, r.Due, r.Unsent)
	}
	if s.State != v1beta1.StepRunning && r.InFlight != 0 {
		w.violated(countsAddUp, "step %s is %s with %d in flight", s.Name, s.State, r.InFlight)
	}
}

// checkKstatus compares the verdict with what kstatus computes from the conditions,
// as Flux does.
func (w *World) checkKstatus() {
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.api.lt)
	if err != nil {
		panic(err)
	}
	got, err := status.Compute(&unstructured.Unstructured{Object: raw})
	if err != nil {
		panic(err)
	}
	want := status.FailedStatus
	switch w.api.lt.Status.Verdict {
	case "":
		want = status.InProgressStatus
	case v1beta1.VerdictPassed:
		want = status.CurrentStatus
	}
	s := &w.api.lt.Status
	if got.Status != want {
		w.violated(saysHowItIs, "in phase %s with verdict %q kstatus is %s (%s), want %s", s.Phase, s.Verdict, got.Status, got.Message, want)
	}
	for _, c := range s.Conditions {
		if abnormal := c.Type == v1beta1.ConditionReconciling || c.Type == v1beta1.ConditionStalled; abnormal && c.Status != metav1.ConditionTrue {
			w.violated(saysHowItIs, "%s is %s, want it True or absent", c.Type, c.Status)
		}
	}
}
