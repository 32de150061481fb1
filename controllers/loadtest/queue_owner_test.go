package loadtest_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A run that is given an owner once it has begun is no load, and keeps its place.
func TestARunThatIsGivenAnOwnerKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r := newFixture(t, c)
	r.Policy = func() *policy.Policy {
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 1}]}")
	}
	list := restored(t, 2)
	begun, owner := list[0], list[1]
	suspend(t, owner, true)
	r.mustPass(owner)
	r.mustPass(begun)
	suspend(t, owner, false)
	r.mustPass(owner)
	if begun.Status.StartTime == nil || owner.Status.Phase != v1beta1.PhaseQueued {
		t.Fatalf("the first began at %v, and the second is %s", begun.Status.StartTime, owner.Status.Phase)
	}
	before := begun.DeepCopy()
	begun.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1beta1.GroupVersion.WithKind("LoadTest"))}
	must.Succeed(t, c.Patch(t.Context(), begun, client.MergeFrom(before)))
	r.mustPass(begun)
	r.mustPass(owner)
	if begun.Status.StartTime == nil || owner.Status.Phase != v1beta1.PhaseQueued {
		t.Errorf("the first began at %v, and the second is %s, want Queued: one may run at once", begun.Status.StartTime, owner.Status.Phase)
	}
}

// A load has the place of its LoadTest, and none of its own, while it is under way.
func TestLoadsHaveOnePlace(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	r.Policy = func() *policy.Policy {
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 2}]}")
	}
	lt := sale(t)
	for range 3 {
		r.mustPass(lt)
	}
	for _, one := range loadsOf(t, lt) {
		r.mustPass(one)
		if one.Status.StartTime == nil {
			t.Fatalf("%s does not begin", one.Name)
		}
	}
	other := &v1beta1.LoadTest{Spec: *lt.Spec.DeepCopy()}
	other.Namespace, other.Name = lt.Namespace, "other"
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), other))
	r.mustPass(other)
	if other.Status.StartTime == nil {
		t.Errorf("the second of two is %s: %+v", other.Status.Phase, condition(other, v1beta1.ConditionQueued))
	}
}
