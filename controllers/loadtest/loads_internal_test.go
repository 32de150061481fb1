package loadtest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What LoadTests with loads, and these, read of each other leads to a pass; what changes each second does not.
func TestMilestonesOfLoads(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: status}}
	}
	for name, c := range map[string]struct {
		change func(*v1beta1.LoadTest)
		want   bool
	}{
		"nothing":          {func(*v1beta1.LoadTest) {}, false},
		"its progress":     {func(lt *v1beta1.LoadTest) { lt.Status.Summary.Step = "100" }, false},
		"its phase":        {func(lt *v1beta1.LoadTest) { lt.Status.Phase = v1beta1.PhaseRunning }, true},
		"it is held":       {func(lt *v1beta1.LoadTest) { lt.Spec.Suspend = true }, true},
		"another deadline": {func(lt *v1beta1.LoadTest) { lt.Spec.StartDeadlineSeconds = ptr.To[int64](1) }, true},
		"its loads end":    {func(lt *v1beta1.LoadTest) { lt.Status.Internal.StopTime = &metav1.MicroTime{} }, true},
		"an instant":       {func(lt *v1beta1.LoadTest) { lt.Status.Loads[0].BeginTime = &metav1.MicroTime{} }, true},
		"its end": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = condition(v1beta1.ConditionFinished, metav1.ConditionTrue)
		}, true},
		"its workers": {func(lt *v1beta1.LoadTest) { lt.Status.Workers.Ready = 1 }, true},
		"that it is held": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionSuspended, metav1.ConditionTrue)...)
		}, true},
		"its results are archived": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionArchived, metav1.ConditionTrue)...)
		}, true},
		"its results cannot be": {func(lt *v1beta1.LoadTest) {
			lt.Status.Conditions = append(lt.Status.Conditions, condition(v1beta1.ConditionArchived, metav1.ConditionFalse)...)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Loads: make([]v1beta1.LoadStatus, 1), Conditions: condition(v1beta1.ConditionWorkersReady, metav1.ConditionTrue)}}
			before.Status.Workers.Desired = 1
			after := before.DeepCopy()
			c.change(after)
			same.As(t, "a pass", c.want, milestones.UpdateFunc(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		})
	}
}
