package loadtest

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A change of the configuration has every run looked at that is not finished, and of those
// that are the ones whose results could not be kept.
func TestPolicyChangeHasRunsReconciled(t *testing.T) {
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	over := named(types.NamespacedName{Namespace: "team", Name: "over"})
	over.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	failed := named(types.NamespacedName{Namespace: "team", Name: "failed"})
	failed.Status.Conditions = append([]metav1.Condition{{Type: v1beta1.ConditionArchived, Status: metav1.ConditionFalse}}, over.Status.Conditions...)
	runs := NewRuns()
	r := &Reconciler{Runs: runs, Keeper: &resultkeeper.Keeper{}, Policy: policy.Default, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		named(types.NamespacedName{Namespace: "team", Name: "waits"}), over, failed, named(types.NamespacedName{Namespace: "shop", Name: "runs"}),
	).Build()}
	must.Report(t, "before the controller has started", r.PolicyChanged(t.Context()))
	r.Runs = started(t)
	must.Succeed(t, r.PolicyChanged(t.Context()))
	got := queued(r.Runs)
	slices.Sort(got)
	if want := []string{"shop/runs", "team/failed", "team/waits"}; !slices.Equal(got, want) {
		t.Errorf("enqueued %v, want %v", got, want)
	}
}
