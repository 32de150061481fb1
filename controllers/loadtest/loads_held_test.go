package loadtest_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// A run whose spec is changed meanwhile goes on with LoadTests of loads that are as it is then. What has begun or
// has ended is not deleted by the operator.
func TestLoadsOfAnEarlierSpecAreReplaced(t *testing.T) {
	t.Parallel()
	const kept = "The API server refuses LoadTest sale-readers: it is there as the spec was before it was changed, or was edited itself, and has begun or ended; delete it, and it is created again."
	const finalized = "The API server refuses LoadTest sale-readers: one that was created for the load is being deleted; see its finalizers if it stays."
	for name, tt := range map[string]struct {
		meanwhile func(r *fixture, load *v1beta1.LoadTest)
		want      string // while the LoadTest of before is there; empty: it is replaced at once
	}{
		"held by itself as well": {func(_ *fixture, load *v1beta1.LoadTest) { suspend(t, load, true) }, ""},
		"begun": {func(r *fixture, load *v1beta1.LoadTest) {
			load.Status.StartTime = &metav1.Time{Time: r.clock.Now()}
			must.Succeed(t, r.Client.Status().Update(t.Context(), load))
		}, kept},
		"with a finalizer": {func(r *fixture, load *v1beta1.LoadTest) {
			before := load.DeepCopy()
			load.Finalizers = []string{"example.com/kept"}
			must.Succeed(t, r.Client.Patch(t.Context(), load, client.MergeFrom(before)))
		}, finalized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := apiserver.Client(t)
			r := newFixture(t, c)
			lt, loads := heldSale(t, r)
			tt.meanwhile(r, loads[0])
			before := lt.DeepCopy()
			lt.Spec.Suspend, *lt.Spec.Loads[0].Steps[0].Users = false, 7
			must.Succeed(t, c.Patch(t.Context(), lt, client.MergeFrom(before)))
			for range 3 {
				r.mustPass(lt)
				r.after(time.Second)
			}
			if tt.want != "" {
				if ready := condition(lt, v1beta1.ConditionWorkersReady); ready.Message != tt.want {
					t.Errorf("WorkersReady says %q", ready.Message)
				}
				must.Succeed(t, client.IgnoreNotFound(c.Delete(t.Context(), loads[0])))
				must.Succeed(t, client.IgnoreNotFound(c.Patch(t.Context(), loads[0], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
				r.after(5 * time.Second)
				r.mustPass(lt)
				r.mustPass(lt)
			}
			for i, one := range loadsOf(t, lt) {
				byItself := i == 0 && loads[0].Spec.Suspend
				if one.UID == "" || one.Spec.Suspend != byItself || lt.Status.Loads[i].UID != string(one.UID) || *one.Spec.Steps[0].Users != *lt.Spec.Loads[i].Steps[0].Users {
					t.Errorf("%s has %+v, and the status %+v", one.Name, one.Spec.Steps, lt.Status.Loads[i])
				}
			}
		})
	}
}
