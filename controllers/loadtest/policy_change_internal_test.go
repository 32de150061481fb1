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
)

// A change of the configuration has every run looked at that is not finished, and of those
// that are the ones whose results could not be kept.
func TestPolicyChangeHasRunsReconciled(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	over := named(types.NamespacedName{Namespace: "team", Name: "over"})
	over.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	failed := named(types.NamespacedName{Namespace: "team", Name: "failed"})
	failed.Status.Conditions = append([]metav1.Condition{{Type: v1beta1.ConditionArchived, Status: metav1.ConditionFalse}}, over.Status.Conditions...)
	runs := NewRuns()
	r := &Reconciler{Runs: runs, Keeper: &resultkeeper.Keeper{}, Policy: policy.Default, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		named(types.NamespacedName{Namespace: "team", Name: "waits"}), over, failed, named(types.NamespacedName{Namespace: "shop", Name: "runs"}),
	).Build()}
	if err := r.PolicyChanged(t.Context()); err != nil {
		t.Errorf("before the controller has started: %v", err)
	}
	r.Runs = started(t)
	if err := r.PolicyChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := queued(r.Runs)
	slices.Sort(got)
	if want := []string{"shop/runs", "team/failed", "team/waits"}; !slices.Equal(got, want) {
		t.Errorf("enqueued %v, want %v", got, want)
	}
}
