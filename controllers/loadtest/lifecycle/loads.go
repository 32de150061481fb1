package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// LoadSeen is the LoadTest of a load, as it was read.
type LoadSeen struct {
	// Test is the LoadTest; nil: there is none of its name.
	Test *v1beta1.LoadTest
	// Taken says that another LoadTest has its name.
	Taken bool
	// Whole says that Test has the results of its steps.
	Whole bool
	// Refused is why the API server refused to create it; nil: it did not.
	Refused *Refusal
}

// NeedsResults says whether the loads of a run have all ended by its status, so that their results are
// to be read.
func NeedsResults(lt *v1beta1.LoadTest) bool {
	return !Finished(lt) && !slices.ContainsFunc(lt.Status.Loads, func(l v1beta1.LoadStatus) bool { return l.Verdict == "" })
}

// sideBySide is a pass over a run whose loads are carried out by LoadTests of their own.
type sideBySide struct{ *pass }

// sideBySidePhases: followLoads writes what was seen of the loads, which the phases after it read.
var sideBySidePhases = []phase[*sideBySide]{
	(*sideBySide).wakeBeforeQuiet,
	(*sideBySide).followLoads,
	(*sideBySide).endIfAsked,
	(*sideBySide).endWithOthers,
	(*sideBySide).finishLoads,
	(*sideBySide).hold,
	(*sideBySide).createLoads,
	(*sideBySide).beginLoads,
}

// followLoads writes how far each load is. One whose LoadTest is gone has ended: what it measured is
// lost, also if it had ended before. Of that, a breach counts.
func (r *sideBySide) followLoads() (goesOn bool) {
	r.out.Undirected = true
	s := &r.out.Status
	s.Workers.Ready = 0
	for i := range s.Loads {
		l, test := &s.Loads[i], r.testOf(i)
		switch {
		case l.Verdict != "" && (test != nil || l.Verdict != v1beta1.VerdictPassed && l.Verdict != v1beta1.VerdictInconclusive):
		case l.UID != "" && test == nil:
			l.Phase, l.Verdict, l.CompletionTime = v1beta1.PhaseFinished, v1beta1.VerdictError, r.microNow()
			l.Message = fmt.Sprintf("LoadTest %s was deleted before the run had ended.", l.Test)
		case r.seen.Loads[i].Taken:
			r.fail(v1beta1.VerdictError, v1beta1.ReasonCreateRefused, fmt.Sprintf("A LoadTest named %s exists and is not of this run; delete it, or give the load another name.", l.Test))
			return false
		case l.UID == "":
		default:
			l.Phase = test.Status.Phase
			s.Workers.Ready += test.Status.Workers.Ready
			if Finished(test) {
				l.Verdict, l.CompletionTime = test.Status.Verdict, r.microNow()
				l.Message = text.Truncate(explanation(test.Status.Conditions).Message, maxLoadMessage)
				l.Ended = l.Ended && l.Verdict != v1beta1.VerdictPassed || l.Verdict == v1beta1.VerdictCanceled && r.read.Internal.StopTime != nil
			}
		}
	}
	r.reportLoadWorkers()
	return true
}

// maxLoadMessage bounds the sentence of a load.
const maxLoadMessage = 512

// testOf is the LoadTest of the load with that index; nil: there is none, though another may have its name, or it is
// deleted and does not go on, though a finalizer keeps it.
func (r *sideBySide) testOf(i int) *v1beta1.LoadTest {
	one := r.seen.Loads[i].Test
	if one == nil || string(one.UID) != r.out.Status.Loads[i].UID || !one.DeletionTimestamp.IsZero() && !Finished(one) {
		return nil
	}
	return one
}

// reportLoadWorkers writes whether the workers of all loads are ready, until the first has begun.
func (r *sideBySide) reportLoadWorkers() {
	s := &r.out.Status
	if r.anyBegun() {
		return
	}
	var waiting []string
	for i := range s.Loads {
		if !r.isReady(i) {
			waiting = append(waiting, s.Loads[i].Name)
		}
	}
	if len(waiting) == 0 {
		r.set(v1beta1.ConditionWorkersReady, metav1.ConditionTrue, v1beta1.ReasonAllReady, "The workers of all loads are ready.")
		return
	}
	reason, message := v1beta1.ReasonWaiting, fmt.Sprintf("Not all loads have their workers ready yet: %s.", strings.Join(waiting, ", "))
	for i := range s.Loads {
		if refused := r.seen.Loads[i].Refused; refused != nil && s.Loads[i].UID == "" {
			reason, message = v1beta1.ReasonCreateRefused, fmt.Sprintf("The API server refuses LoadTest %s: %s", s.Loads[i].Test, sentence(refused.Message))
			break
		}
		if test := r.testOf(i); test != nil {
			if c := Blocked(test); c != nil {
				reason, message = c.Reason, fmt.Sprintf("Load %s: %s", s.Loads[i].Name, c.Message)
				break
			}
		}
	}
	r.set(v1beta1.ConditionWorkersReady, metav1.ConditionFalse, reason, message)
}

// isReady says whether a load waits, with all its workers, for the instant at which it begins.
func (r *sideBySide) isReady(i int) bool {
	test := r.testOf(i)
	return test != nil && test.Status.Phase == v1beta1.PhaseStarting && HasWorkers(test)
}

// HasWorkers says whether all workers of a run are ready. One that was held has the condition of before until
// its workers are looked at again.
func HasWorkers(lt *v1beta1.LoadTest) bool {
	w := &lt.Status.Workers
	return w.Ready >= w.Desired && meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionWorkersReady)
}

// Blocked says what else than time the workers of a run lack to be ready; nil: nothing, as far as it is known.
func Blocked(lt *v1beta1.LoadTest) *metav1.Condition {
	c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionWorkersReady)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1beta1.ReasonWaiting {
		return nil
	}
	return c
}

func (r *sideBySide) anyBegun() bool {
	return slices.ContainsFunc(r.out.Status.Loads, func(l v1beta1.LoadStatus) bool { return l.BeginTime != nil })
}

// endIfAsked ends all loads as the user or the administrator asks for, or when the time is up.
func (r *sideBySide) endIfAsked() (goesOn bool) {
	at, limited := deadline(r.read.StartTime.Time, r.spec.ActiveDeadlineSeconds)
	switch {
	case r.out.Status.Internal.StopTime != nil:
	case r.held.Ends():
		r.out.Status.Internal.StopCause = r.stopCause()
		r.stopLoads()
	case r.spec.Terminate, limited && !r.now.Before(at):
		r.stopLoads()
	default:
		r.wake(at)
	}
	return true
}

func (r *sideBySide) microNow() *metav1.MicroTime {
	now := metav1.NewMicroTime(r.now)
	return &now
}

// stopLoads ends all loads that have not ended.
func (r *sideBySide) stopLoads() {
	r.out.Status.Internal.StopTime = r.microNow()
}

// endWithOthers ends all loads once one could not be carried out or was aborted, since the others were
// to be sent beside it, and those in the background once all others have ended.
func (r *sideBySide) endWithOthers() (goesOn bool) {
	s := &r.out.Status
	if s.Internal.StopTime != nil {
		return true
	}
	under := false
	for i := range s.Loads {
		l := &s.Loads[i]
		under = under || l.Verdict == "" && !r.spec.Loads[i].Background
		if l.Verdict == v1beta1.VerdictError || l.Verdict == v1beta1.VerdictCanceled || wasAborted(r.testOf(i)) {
			r.stopLoads()
			r.event(v1beta1.ReasonLoadsEnded, fmt.Sprintf("Load %s has ended early: %s The others are ended.", l.Name, sentence(l.Message)))
			return true
		}
	}
	if under {
		return true
	}
	r.stopLoads()
	for i := range s.Loads {
		s.Loads[i].Ended = s.Loads[i].Verdict == ""
	}
	return true
}

// severity orders the verdicts of loads: the first of them is that of the run.
var severity = []v1beta1.Verdict{v1beta1.VerdictFailed, v1beta1.VerdictError, v1beta1.VerdictCanceled, v1beta1.VerdictInconclusive, v1beta1.VerdictPassed}

// createLoads creates the LoadTests of loads that have none, again and again if they are refused, until
// the start deadline.
func (r *sideBySide) createLoads() (goesOn bool) {
	if r.out.Status.Internal.StopTime != nil {
		return true
	}
	at, limited := r.startDeadline()
	for i, one := range plan.Loads(r.test) {
		if r.out.Status.Loads[i].UID != "" {
			continue
		}
		refused := r.seen.Loads[i].Refused
		switch {
		case refused != nil && (refused.Permanent || limited && !r.now.Before(at)):
			r.out.Status.Loads[i].Verdict, r.out.Status.Loads[i].Phase = v1beta1.VerdictError, v1beta1.PhaseFinished
			r.out.Status.Loads[i].Message = text.Truncate("The API server refuses the LoadTest: "+sentence(refused.Message), maxLoadMessage)
			return true
		case refused != nil && r.now.Before(refused.At.Add(createRetry)):
			r.wake(refused.At.Add(createRetry))
		default:
			r.out.CreateLoads = append(r.out.CreateLoads, one)
		}
	}
	return true
}

// beginLoads writes the instants at which loads begin: those with the run once the workers of all are
// ready, and the others when the load before them has ended.
func (r *sideBySide) beginLoads() (goesOn bool) {
	s := &r.out.Status
	if s.Internal.StopTime != nil {
		return true
	}
	if !r.anyBegun() {
		for i := range s.Loads {
			if !r.isReady(i) {
				return true
			}
		}
	}
	soonest := r.now.Add(2 * r.lead())
	due := map[int]time.Time{}
	for i := range s.Loads {
		if from, ok := r.begins(i, soonest); ok && s.Loads[i].BeginTime == nil {
			due[i] = from
		}
	}
	if r.bringsWorkersBack(due) {
		return true
	}
	for i, from := range due {
		// The load has to read it, and its workers to be directed.
		at := metav1.NewMicroTime(instant.Later(from.Add(v1beta1.OrZero(r.spec.Loads[i].Delay)), soonest))
		s.Loads[i].BeginTime = &at
		s.Phase = v1beta1.PhaseRunning
	}
	return true
}

// begins is the instant from which the delay of a load counts; ok is false if it has not come.
func (r *sideBySide) begins(i int, soonest time.Time) (from time.Time, ok bool) {
	after := r.spec.Loads[i].After
	if after == "" {
		return soonest, true
	}
	for _, l := range r.out.Status.Loads {
		if l.Name == after && l.CompletionTime != nil {
			return instant.Later(l.CompletionTime.Time, r.resumedAt()), true
		}
	}
	return time.Time{}, false
}

// loadsInconsistency names what is wrong with the loads of a run under way.
func (r *inputs) loadsInconsistency() string {
	if !slices.EqualFunc(r.read.Loads, r.spec.Loads, func(a v1beta1.LoadStatus, b v1beta1.Load) bool { return a.Name == b.Name }) {
		return "loads do not follow from spec.loads"
	}
	return ""
}
