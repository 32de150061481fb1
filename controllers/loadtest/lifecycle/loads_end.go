package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// wasAborted says whether a threshold cut the load short.
func wasAborted(one *v1beta1.LoadTest) bool {
	if one == nil {
		return false
	}
	c := meta.FindStatusCondition(one.Status.Conditions, v1beta1.ConditionCarriedOut)
	return c != nil && c.Reason == v1beta1.ReasonAborted
}

// finishLoads ends the run once all of its loads have ended, and their results were read.
func (r *sideBySide) finishLoads() (goesOn bool) {
	s := &r.out.Status
	for i := range s.Loads {
		l := &s.Loads[i]
		if l.UID == "" && l.Verdict == "" && r.read.Internal.StopTime != nil { // it is not created any more
			l.Phase, l.Verdict, l.Ended = v1beta1.PhaseFinished, v1beta1.VerdictCanceled, true
			l.Message = "The run ended before the load could begin."
		}
		if l.Verdict == "" {
			return true
		}
	}
	if !r.addLoads() {
		return false
	}
	var judged []int
	for i := range s.Loads {
		if !r.isLeftOut(i) {
			judged = append(judged, i)
		}
	}
	if len(judged) < len(s.Loads) && (len(judged) == 0 || r.isAskedToEnd() || r.wasCut()) {
		r.finishCut()
		return false
	}
	r.judgeLoads(judged)
	return false
}

// isLeftOut says whether the verdict of a load does not count: the run ended it, and it says nothing more
// than that. A breach in what it measured counts.
func (r *sideBySide) isLeftOut(i int) bool {
	l := &r.out.Status.Loads[i]
	return l.Ended && (l.Verdict == v1beta1.VerdictCanceled || r.reasonOfLoad(i) == v1beta1.ReasonStepCut)
}

// addLoads writes the results of each load and of all together. It is false while they have not been
// read.
func (r *sideBySide) addLoads() bool {
	s := &r.out.Status
	var all []v1beta1.StepStatus
	for i := range s.Loads {
		test := r.testOf(i)
		if test == nil {
			continue // nothing was measured, or what was is gone
		}
		if !r.seen.Loads[i].Whole {
			r.wake(r.now.Add(resultsExpected))
			return false
		}
		sum, err := results.Sum(test.Status.Steps...)
		if err != nil { // not reached: a status that the operator wrote
			s.Loads[i].Message = text.Truncate(err.Error(), maxLoadMessage)
			continue
		}
		s.Loads[i].Result = sum
		all = append(all, test.Status.Steps...)
	}
	s.Together, _ = results.Sum(all...)
	return true
}

// resultsExpected is the time between two tries to read the results of the loads.
const resultsExpected = time.Second

// isAskedToEnd says whether the user, the administrator or the deadline ends the run, whose loads are ended.
func (r *sideBySide) isAskedToEnd() bool {
	s := &r.out.Status.Internal
	at, limited := deadline(r.read.StartTime.Time, r.spec.ActiveDeadlineSeconds)
	return s.StopCause != nil || r.spec.Terminate || limited && !s.StopTime.Time.Before(at)
}

// wasCut says whether loads were ended that are not in the background, though no load is the cause and nothing
// asks for it now: the deadline was put off since.
func (r *sideBySide) wasCut() bool {
	course, _ := r.courseOfLoads()
	for i := range r.out.Status.Loads {
		if course == v1beta1.ReasonAllStepsRan && r.isLeftOut(i) && !r.spec.Loads[i].Background {
			return true
		}
	}
	return false
}

// judgeLoads writes the verdict of the run: the worst of these loads, which the run did not end.
func (r *sideBySide) judgeLoads(judged []int) {
	s := &r.out.Status
	worst := slices.MinFunc(judged, func(a, b int) int {
		return cmp.Compare(slices.Index(severity, s.Loads[a].Verdict), slices.Index(severity, s.Loads[b].Verdict))
	})
	verdict := s.Loads[worst].Verdict
	var said []string
	for _, i := range judged {
		if s.Loads[i].Verdict == verdict {
			said = append(said, fmt.Sprintf("Load %s: %s", s.Loads[i].Name, sentence(s.Loads[i].Message)))
		}
	}
	message := strings.Join(said, " ")
	reason := r.reasonOfLoad(worst)
	if verdict == v1beta1.VerdictError || verdict == v1beta1.VerdictCanceled {
		kept := " What was measured is kept."
		if lost := r.lostLoads(); lost != "" {
			kept = lost + " What else was measured is kept."
		}
		r.fail(verdict, reason, message+kept)
		return
	}
	if late := r.beganLate(); late != "" && verdict == v1beta1.VerdictPassed {
		verdict, reason, message = v1beta1.VerdictInconclusive, v1beta1.ReasonLoadsApart, late
	}
	message += r.lostLoads()
	s.Verdict, s.Phase = verdict, v1beta1.PhaseFinished
	kept := passed(verdict)
	r.set(v1beta1.ConditionThresholdsMet, kept, reason, message)
	course, how := r.courseOfLoads()
	r.set(v1beta1.ConditionCarriedOut, metav1.ConditionTrue, course, how)
	r.complete()
	if said := fmt.Sprintf("Verdict %s: %s", verdict, message); kept == metav1.ConditionTrue {
		r.event(string(verdict), said)
	} else {
		r.warn(string(verdict), said)
	}
}

// lostLoads are sentences about loads that had begun, and whose results went with their LoadTests; empty: there are
// none.
func (r *sideBySide) lostLoads() string {
	said := ""
	for i := range r.out.Status.Loads {
		if l := &r.out.Status.Loads[i]; l.UID != "" && l.BeginTime != nil && r.testOf(i) == nil {
			said += fmt.Sprintf(" The results lack load %s, whose LoadTest was deleted.", l.Name)
		}
	}
	return said
}

// courseOfLoads says how far the loads went: what the run cuts of those in the background, as planned, does not
// count.
func (r *sideBySide) courseOfLoads() (reason, message string) {
	s := &r.out.Status
	reason, message = v1beta1.ReasonAllStepsRan, "All loads ran."
	for i := range s.Loads {
		switch l := &s.Loads[i]; {
		case wasAborted(r.testOf(i)):
			reason, message = v1beta1.ReasonAborted, fmt.Sprintf("Load %s was aborted by a threshold.", l.Name)
		case !l.Ended && (l.Verdict == v1beta1.VerdictError || l.Verdict == v1beta1.VerdictCanceled):
			reason, message = v1beta1.ReasonLoadsEnded, fmt.Sprintf("Load %s could not be carried out.", l.Name)
		}
		if reason != v1beta1.ReasonAllStepsRan {
			break
		}
	}
	if reason != v1beta1.ReasonAllStepsRan && slices.ContainsFunc(s.Loads, func(l v1beta1.LoadStatus) bool { return l.Ended }) {
		message += " The others were ended."
	}
	return reason, message
}

// mayBeLate is by how much later than it was to a load may begin, of its length, and at least.
const (
	mayBeLate      = 0.01
	mayBeLateAtAll = time.Second
)

// beganLate is a sentence about the first load that began later than it was to, as when a worker was replaced
// while it waited: for a part of the run, the others were sent without it. Empty: none did.
func (r *sideBySide) beganLate() string {
	for i := range r.out.Status.Loads {
		l, test := &r.out.Status.Loads[i], r.testOf(i)
		if l.BeginTime == nil || test == nil || len(test.Status.Steps) == 0 || test.Status.Steps[0].StartTime == nil {
			continue
		}
		began := test.Status.Steps[0].StartTime.Time
		late := began.Sub(l.BeginTime.Time)
		if late > max(mayBeLateAtAll, time.Duration(mayBeLate*float64(l.CompletionTime.Sub(began)))) {
			return fmt.Sprintf("Load %s began %s after its time, so that the loads were not sent side by side as planned. Run it again.", l.Name, text.Short(late))
		}
	}
	return ""
}

// reasonOfLoad is the reason of the condition that explains the verdict of a load.
func (r *sideBySide) reasonOfLoad(i int) string {
	one := r.testOf(i)
	switch {
	case r.out.Status.Loads[i].UID == "":
		return v1beta1.ReasonCreateRefused
	case one == nil:
		return v1beta1.ReasonLoadDeleted
	}
	return explanation(one.Status.Conditions).Reason
}

// summaryOfLoads is the line that kubectl get prints of loads side by side.
func summaryOfLoads(s *v1beta1.LoadTestStatus) v1beta1.Summary {
	ended := 0
	for i := range s.Loads {
		if s.Loads[i].Verdict != "" {
			ended++
		}
	}
	summary := v1beta1.Summary{
		Step:    fmt.Sprintf("%d/%d loads", ended, len(s.Loads)),
		Workers: fmt.Sprintf("%d/%d", s.Workers.Ready, s.Workers.Desired),
	}
	if all := s.Together; all != nil {
		summary.Errors = text.Percent(all.Failed-all.Undecided, all.Sent)
		summary.Unsent = text.Percent(all.Unsent, all.Due)
		if t := all.ResponseTime; t != nil {
			summary.P95, summary.P99 = short(t.P95), short(t.P99)
		}
	}
	return summary
}
