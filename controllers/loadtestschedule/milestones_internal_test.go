package loadtestschedule

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// A schedule looks again when a run has finished, and when its results are kept.
func TestMilestonesOfALoadTest(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	for _, tc := range []struct {
		kind   string
		status metav1.ConditionStatus
		want   bool
	}{
		{v1beta1.ConditionReconciling, metav1.ConditionTrue, false}, {v1beta1.ConditionFinished, metav1.ConditionTrue, true},
		{v1beta1.ConditionArchived, metav1.ConditionFalse, false}, {v1beta1.ConditionArchived, metav1.ConditionTrue, true},
		{v1beta1.ConditionAnnounced, metav1.ConditionTrue, true},
	} {
		before := lt.DeepCopy()
		meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: tc.kind, Status: tc.status})
		if got := milestones.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: lt}); got != tc.want {
			t.Errorf("condition %s %s: %t, want %t", tc.kind, tc.status, got, tc.want)
		}
	}
}
