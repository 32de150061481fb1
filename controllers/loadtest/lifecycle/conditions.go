package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxMessage bounds a condition's message, of which the API server would refuse 32 KiB, and an event's, of
// which it refuses more than this.
const maxMessage = 1024

// Finished says whether a run is over. Its steps no longer change.
func Finished(lt *v1beta1.LoadTest) bool { return isFinished(lt.Status.Conditions) }

func isFinished(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, v1beta1.ConditionFinished)
}

// underWay is the message of condition Reconciling, by phase.
var underWay = map[v1beta1.Phase]string{
	v1beta1.PhaseQueued:    "The run waits in the queue.",
	v1beta1.PhaseSuspended: "The run is held.",
	v1beta1.PhaseStarting:  "The workers start.",
	v1beta1.PhaseRunning:   "The steps run.",
}

// conclude writes the conditions about the run as a whole, from the verdict and from the
// conditions about its parts: is it under way, is it finished, and should a pipeline stop?
func (r *pass) conclude() (goesOn bool) {
	s := &r.out.Status
	if s.Phase != v1beta1.PhaseQueued && meta.IsStatusConditionTrue(s.Conditions, v1beta1.ConditionQueued) {
		meta.RemoveStatusCondition(&s.Conditions, v1beta1.ConditionQueued) // it was held or ended before it could begin
	}
	if s.Verdict == "" {
		r.set(v1beta1.ConditionPassed, metav1.ConditionUnknown, v1beta1.ReasonNotFinished, "The run has not finished.")
		r.set(v1beta1.ConditionReconciling, metav1.ConditionTrue, string(s.Phase), underWay[s.Phase])
		return true
	}
	meta.RemoveStatusCondition(&s.Conditions, v1beta1.ConditionReconciling)
	reason, message := string(s.Verdict), explanation(s.Conditions).Message
	r.set(v1beta1.ConditionFinished, metav1.ConditionTrue, reason, message)
	r.set(v1beta1.ConditionPassed, passed(s.Verdict), reason, message)
	if s.Verdict != v1beta1.VerdictPassed {
		r.set(v1beta1.ConditionStalled, metav1.ConditionTrue, reason, message)
	}
	return true
}

// passed says whether a target with that verdict has passed.
func passed(v v1beta1.Verdict) metav1.ConditionStatus {
	switch v {
	case v1beta1.VerdictPassed:
		return metav1.ConditionTrue
	case v1beta1.VerdictFailed:
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

// explanation is the condition behind a verdict: why the run could not go to its end
// or, when it did, how it was judged. A run with a verdict has one of the two.
func explanation(conditions []metav1.Condition) metav1.Condition {
	c := v1beta1.NotCarriedOut(conditions)
	if c == nil {
		c = meta.FindStatusCondition(conditions, v1beta1.ConditionThresholdsMet)
	}
	return ptr.Deref(c, metav1.Condition{})
}

// set sets a condition; its transition time moves only with its status.
func (r *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&r.out.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: text.Truncate(message, maxMessage),
		ObservedGeneration: r.out.Status.ObservedGeneration,
		LastTransitionTime: metav1.NewTime(r.now),
	})
}

// deadline is t plus that many seconds; ok is false when there is none.
func deadline(t time.Time, seconds *int64) (at time.Time, ok bool) {
	if seconds == nil {
		return time.Time{}, false
	}
	return t.Add(time.Duration(*seconds) * time.Second), true
}
