package loadtest_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Who deletes a LoadTest with loads and creates it anew is faster than the garbage collection: the second
// waits until the LoadTests of the first are gone.
func TestALoadTestThatIsCreatedAnewWaitsForTheLoadsOfTheFirst(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), sale(t)
	r.mustPass(lt)
	r.mustPass(lt)
	first := loadsOf(t, lt)
	again := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}, Spec: lt.Spec}
	must.Succeed(t, c.Delete(t.Context(), lt))
	if _, err := r.pass(lt); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, c.Create(t.Context(), again))
	for range 3 {
		r.mustPass(again)
		r.after(time.Second)
	}
	if again.Status.Verdict != "" {
		t.Fatalf("verdict %s: %+v", again.Status.Verdict, v1beta1.NotCarriedOut(again.Status.Conditions))
	}
	const want = "The API server refuses LoadTest sale-readers: one of an earlier LoadTest sale is still there, until the API server removes it; delete it if it stays."
	if ready := condition(again, v1beta1.ConditionWorkersReady); ready.Message != want {
		t.Errorf("WorkersReady says %q", ready.Message)
	}
	for _, one := range first { // the garbage collection comes
		must.Succeed(t, c.Delete(t.Context(), one))
	}
	r.after(5 * time.Second)
	for range 2 {
		r.mustPass(again)
	}
	for i, one := range loadsOf(t, again) {
		if one.UID == "" || one.UID == first[i].UID || again.Status.Loads[i].UID != string(one.UID) {
			t.Errorf("load %d has UID %q, and the status %q", i, one.UID, again.Status.Loads[i].UID)
		}
	}
}

// A LoadTest that only names an owner of that name keeps the run waiting until its start deadline, and no longer.
func TestAForgedLoadEndsTheRunAtItsStartDeadline(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), sale(t)
	r.mustPass(lt)
	forged := plan.Loads(lt)[1]
	forged.OwnerReferences[0].UID = types.UID("forged")
	must.Succeed(t, c.Create(t.Context(), forged))
	for range 3 {
		r.mustPass(lt)
	}
	if lt.Status.Verdict != "" {
		t.Fatalf("verdict %s at once: %+v", lt.Status.Verdict, v1beta1.NotCarriedOut(lt.Status.Conditions))
	}
	r.mustPass(forged)
	if forged.Status.StartTime != nil {
		t.Error("it begins outside of the queue")
	}
	r.after(time.Duration(*lt.Spec.StartDeadlineSeconds) * time.Second)
	for range 2 {
		r.mustPass(lt)
	}
	for _, one := range loadsOf(t, lt)[:1] { // the other, which is ended
		r.mustPass(one)
	}
	for range 3 {
		r.mustPass(lt)
	}
	if c := v1beta1.NotCarriedOut(lt.Status.Conditions); lt.Status.Verdict != v1beta1.VerdictError || c == nil || c.Reason != v1beta1.ReasonCreateRefused {
		t.Errorf("verdict %s: %+v", lt.Status.Verdict, lt.Status.Conditions)
	}
}
