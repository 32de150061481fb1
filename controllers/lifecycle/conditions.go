package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxMessage bounds a condition's message; the API server would refuse 32 KiB.
const maxMessage = 1024

// Finished says whether a run is over. Its steps are then as they will always be.
func Finished(lt *v1alpha1.LoadTest) bool { return finished(lt.Status.Conditions) }

// finished says whether a terminal condition holds.
func finished(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) ||
		meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFailed)
}

// set sets a condition; its transition time moves only with its status.
func (r *run) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&r.out.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: text.Truncate(message, maxMessage),
		ObservedGeneration: r.out.Status.ObservedGeneration,
		LastTransitionTime: metav1.NewTime(r.now),
	})
}

// deadline is t plus that many seconds; ok is false when there is none.
func deadline(t *metav1.Time, seconds *int64) (at time.Time, ok bool) {
	if t == nil || seconds == nil {
		return time.Time{}, false
	}
	return t.Add(time.Duration(*seconds) * time.Second), true
}

// clock is a time of day as a message says it.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }
