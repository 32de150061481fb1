package progress

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Finished says whether a LoadTest has come to its end, in whatever way.
func Finished(lt *v1beta1.LoadTest) bool {
	return meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished)
}

// Line is the state of a run in a line without the time, so that it changes
// only when there is something to say.
func Line(lt *v1beta1.LoadTest) string {
	parts := append(head(lt), figures(lt)...)
	if why := Waiting(lt); why != "" {
		parts = append(parts, why)
	}
	return strings.Join(parts, "  ")
}

// Block is the state of a run in two lines of at most width characters, which is at
// least 1: the current step, and its figures.
func Block(lt *v1beta1.LoadTest, now time.Time, width int) []string {
	var tail []string
	if step := Current(lt); step != nil {
		tail = append(tail, elapsed(step, now)...)
	}
	tail = append(tail, figures(lt)...)
	if why := Waiting(lt); why != "" {
		tail = append(tail, why)
	}
	return []string{cut(strings.Join(head(lt), "  "), width), cut(strings.TrimRight("  "+strings.Join(tail, "  "), " "), width)}
}

// head names a run, its state, and the step that the figures are of.
func head(lt *v1beta1.LoadTest) []string {
	parts := []string{lt.Namespace + "/" + lt.Name, state(lt)}
	number := lt.Status.Summary.Step
	step := Current(lt)
	isPause := step != nil && step.Load.IsPause()
	switch {
	case lt.Status.Phase == v1beta1.PhaseQueued: // it is the place in the queue
	case len(lt.Status.Loads) > 0:
		parts = append(parts, loads(&lt.Status)...)
	case number == "" || number == "0" || strings.HasPrefix(number, "0/"):
	case isPause:
		parts = append(parts, "step "+number+" done")
	default:
		parts = append(parts, "step "+number)
	}
	if step != nil {
		parts = append(parts, report.Title(step))
	}
	return parts
}

// loads are how far each load is that is sent side by side.
func loads(s *v1beta1.LoadTestStatus) (parts []string) {
	for i := range s.Loads {
		l := &s.Loads[i]
		state := cmp.Or(string(l.Verdict), string(l.Phase), "not created")
		if l.Ended && l.Verdict != v1beta1.VerdictFailed && l.Verdict != "" {
			state = "ended"
		}
		if l.Verdict == "" && l.Phase == v1beta1.PhaseStarting && l.BeginTime == nil && s.Phase == v1beta1.PhaseRunning {
			state = "waits"
		}
		parts = append(parts, l.Name+": "+state)
	}
	return parts
}

// Waiting describes the reason for which a run has not begun, or is held.
func Waiting(lt *v1beta1.LoadTest) string {
	switch lt.Status.Phase {
	case "", v1beta1.PhasePending:
		return "waiting for the operator"
	case v1beta1.PhaseSuspended:
		if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionSuspended); c != nil && c.Reason != v1beta1.ReasonSuspended {
			return c.Message // by the administrator
		}
		return "held by spec.suspend"
	case v1beta1.PhaseQueued:
		return cmp.Or(said(lt, v1beta1.ConditionQueued, metav1.ConditionTrue), "waiting in the queue")
	case v1beta1.PhaseStarting:
		if said(lt, v1beta1.ConditionWorkersReady, metav1.ConditionTrue) != "" {
			return "waiting to begin" // as a load does that follows another
		}
		return cmp.Or(said(lt, v1beta1.ConditionWorkersReady, metav1.ConditionFalse), "workers start")
	}
	return ""
}

// said is the message of a condition, if it has that status.
func said(lt *v1beta1.LoadTest, condition string, status metav1.ConditionStatus) string {
	if c := meta.FindStatusCondition(lt.Status.Conditions, condition); c != nil && c.Status == status {
		return c.Message
	}
	return ""
}

func state(lt *v1beta1.LoadTest) string {
	switch s := &lt.Status; {
	case s.Verdict != "":
		return string(s.Verdict)
	case s.Phase != "":
		return string(s.Phase)
	}
	return string(v1beta1.PhasePending)
}

// Current is the step that runs or runs next, nil while there is none.
func Current(lt *v1beta1.LoadTest) *v1beta1.StepStatus {
	s := &lt.Status
	if Finished(lt) || s.Phase != v1beta1.PhaseRunning || int(s.CurrentStep) >= len(s.Steps) {
		return nil
	}
	return &s.Steps[s.CurrentStep]
}

// figures are those of kubectl get. While the control has its step they are of another
// one, the candidate's, and left out.
func figures(lt *v1beta1.LoadTest) []string {
	var list []string
	s := lt.Status.Summary
	if step := Current(lt); step != nil && step.Side == v1beta1.SideControl {
		s.Goodput, s.P95, s.Errors = "", "", ""
	}
	if s.Goodput != "" {
		list = append(list, "goodput "+s.Goodput)
	}
	if s.P95 != "" {
		list = append(list, "p95 "+s.P95)
	}
	now := measuredNow(lt)
	if first := report.FirstEvent(now); first != "" {
		list = append(list, "first event p95 "+first)
	}
	if s.Errors != "" {
		list = append(list, "errors "+s.Errors)
	}
	if failing := report.Failing(now.Requests); failing != "" {
		list = append(list, "failing "+failing)
	}
	if s.Workers != "" && !Finished(lt) {
		list = append(list, "workers "+s.Workers)
	}
	return list
}

// measuredNow is the result of the current step of the candidate so far; an empty one if there is none.
func measuredNow(lt *v1beta1.LoadTest) *v1beta1.StepResult {
	if step := Current(lt); step != nil && step.Result != nil && step.Side != v1beta1.SideControl {
		return step.Result
	}
	return &v1beta1.StepResult{}
}

// barWidth is that of a whole bar.
const barWidth = 20

// elapsed is how far a step is: a bar when its end is known, else the time that
// it has taken.
func elapsed(step *v1beta1.StepStatus, now time.Time) []string {
	if step.StartTime == nil || step.State != v1beta1.StepRunning {
		return nil
	}
	done := max(now.Sub(step.StartTime.Time), 0)
	whole := Length(&step.Load)
	if whole <= 0 {
		return []string{text.Short(done.Truncate(time.Second))}
	}
	done = min(done, whole)
	filled := int(barWidth * done / whole)
	return []string{
		strings.Repeat("━", filled) + strings.Repeat("╌", barWidth-filled),
		fmt.Sprintf("%s/%s", seconds(done, whole), seconds(whole, whole)),
	}
}

// Length is how long a load is sent, or a pause lasts; 0 of a burst, as it is not
// known beforehand.
func Length(l *v1beta1.StepLoad) time.Duration {
	var sum time.Duration
	for _, d := range []*metav1.Duration{l.WarmUp, l.Duration, l.Pause} {
		if d != nil {
			sum += d.Duration
		}
	}
	return sum
}

// seconds is a duration in whole seconds; in tenths when the whole is shorter.
func seconds(d, whole time.Duration) string {
	if whole < time.Second {
		return d.Truncate(100 * time.Millisecond).String()
	}
	return d.Truncate(time.Second).String()
}

// cut shortens a text to a width, for a line that wraps cannot be erased. All
// characters that are written here are one column wide.
func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
