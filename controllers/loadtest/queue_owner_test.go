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
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 2}]}")
	}
	list := restored(t, 3)
	begun, owner, waits := list[0], list[1], list[2]
	for _, lt := range list {
		r.mustPass(lt)
	}
	given(t, begun, owner)
	r.mustPass(begun)
	r.mustPass(waits)
	if begun.Status.StartTime == nil || waits.Status.Phase != v1beta1.PhaseQueued {
		t.Errorf("the first began at %v, and the third is %s, want Queued: two may run at once", begun.Status.StartTime, waits.Status.Phase)
	}
}

// One that is given an owner that has not begun waits for it, without workers, and so without a place.
func TestARunThatIsGivenAnOwnerThatWaitsGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	r.Policy = func() *policy.Policy {
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 1}]}")
	}
	list := restored(t, 2)
	begun, owner := list[0], list[1]
	r.mustPass(begun)
	r.mustPass(owner)
	given(t, begun, owner)
	r.mustPass(owner)
	if begun.Status.StartTime == nil || owner.Status.Phase != v1beta1.PhaseQueued {
		t.Errorf("the first began at %v, and the second is %s, want Queued: one may run at once", begun.Status.StartTime, owner.Status.Phase)
	}
	r.mustPass(begun)
	r.mustPass(owner)
	if begun.Status.StartTime != nil || begun.Status.Phase != v1beta1.PhaseSuspended || owner.Status.StartTime == nil {
		t.Errorf("the first is %s, begun at %v, and the second began at %v", begun.Status.Phase, begun.Status.StartTime, owner.Status.StartTime)
	}
}

// given gives a run an owner.
func given(t *testing.T, lt, owner *v1beta1.LoadTest) {
	t.Helper()
	before := lt.DeepCopy()
	lt.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1beta1.GroupVersion.WithKind("LoadTest"))}
	must.Succeed(t, apiserver.Client(t).Patch(t.Context(), lt, client.MergeFrom(before)))
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
