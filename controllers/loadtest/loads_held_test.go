package loadtest_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// heldSale is a LoadTest whose loads had workers that were not ready yet when it was suspended, after the passes that take
// the workers and the place back.
func heldSale(t *testing.T, r *fixture) (*v1beta1.LoadTest, []*v1beta1.LoadTest) {
	t.Helper()
	lt := sale(t)
	r.mustPass(lt)
	r.mustPass(lt)
	for _, one := range loadsOf(t, lt) {
		r.mustPass(one)
		if one.Status.StartTime == nil {
			t.Fatalf("%s does not begin: %+v", one.Name, one.Status)
		}
	}
	suspend(t, lt, true)
	r.mustPass(lt)
	if lt.Status.StartTime == nil {
		t.Error("the place is given back while loads have workers")
	}
	loads := loadsOf(t, lt)
	for _, one := range loads {
		r.mustPass(one)
	}
	r.mustPass(lt)
	if lt.Status.StartTime != nil || lt.Status.Phase != v1beta1.PhaseSuspended || !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionSuspended) {
		t.Fatalf("the run keeps its place: %+v", lt.Status)
	}
	return lt, loads
}

func suspend(t *testing.T, lt *v1beta1.LoadTest, held bool) {
	t.Helper()
	before := lt.DeepCopy()
	lt.Spec.Suspend = held
	must.Succeed(t, apiserver.Client(t).Patch(t.Context(), lt, client.MergeFrom(before)))
}

// A run whose loads were held before the first of them gives its place back, and goes on with the same LoadTests.
func TestARunThatIsHeldBeforeItsLoadsBeginGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	lt, loads := heldSale(t, r)
	for _, one := range loads {
		r.mustPass(one)
		if one.Status.StartTime != nil {
			t.Errorf("%s begins without a place", one.Name)
		}
	}
	suspend(t, lt, false)
	for range 3 {
		r.mustPass(lt)
	}
	for i, one := range loadsOf(t, lt) {
		r.mustPass(one)
		if one.UID != loads[i].UID || lt.Status.Loads[i].UID != string(one.UID) || one.Status.Phase != v1beta1.PhaseStarting {
			t.Errorf("%s is %s, and its status %+v", one.Name, one.Status.Phase, lt.Status.Loads[i])
		}
	}
}

// Who changes the spec meanwhile is told which LoadTests to delete.
func TestLoadsOfAnEarlierSpecAreToBeDeleted(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r := newFixture(t, c)
	lt, loads := heldSale(t, r)
	before := lt.DeepCopy()
	lt.Spec.Suspend, *lt.Spec.Loads[0].Steps[0].Users = false, 7
	must.Succeed(t, c.Patch(t.Context(), lt, client.MergeFrom(before)))
	for range 3 {
		r.mustPass(lt)
		r.after(time.Second)
	}
	const want = "The API server refuses LoadTest sale-readers: it is there as the spec was before it was changed, or was edited itself; delete it, and it is created again."
	if ready := condition(lt, v1beta1.ConditionWorkersReady); ready.Message != want {
		t.Errorf("WorkersReady says %q", ready.Message)
	}
	must.Succeed(t, c.Delete(t.Context(), loads[0]))
	r.after(5 * time.Second)
	for range 2 {
		r.mustPass(lt)
	}
	for i, one := range loadsOf(t, lt) {
		if one.UID == "" || lt.Status.Loads[i].UID != string(one.UID) || *one.Spec.Steps[0].Users != *lt.Spec.Loads[i].Steps[0].Users {
			t.Errorf("%s has %+v, and the status %+v", one.Name, one.Spec.Steps, lt.Status.Loads[i])
		}
	}
}
