package loadtest_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Who deletes a LoadTest and creates it anew is faster than the garbage collection, which this API
// server does not even have: the Job of the first, with its pods, is there until the test deletes
// it. The second waits, takes no pod of it for a worker, and then has a Job of its own.
func TestALoadTestThatIsCreatedAnewWaitsForTheJobOfTheFirst(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), hello(t)
	r.prepare(lt)
	first := &batchv1.Job{}
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(lt), first))

	again := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}, Spec: lt.Spec}
	must.Succeed(t, c.Delete(t.Context(), lt))
	if _, err := r.pass(lt); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(again), &v1beta1.LoadTest{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the first is still there: %v", err)
	}
	must.Succeed(t, c.Create(t.Context(), again))
	for range 3 {
		r.mustPass(again)
	}
	ready := condition(again, v1beta1.ConditionWorkersReady)
	const want = "The API server is removing the Job of an earlier LoadTest of this name."
	if again.Status.Verdict != "" || ready.Reason != v1beta1.ReasonWaiting || !strings.HasPrefix(ready.Message, want) {
		t.Fatalf("verdict %q, WorkersReady is %s: %s", again.Status.Verdict, ready.Reason, ready.Message)
	}
	must.Succeed(t, c.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	r.mustPass(again)
	r.mustPass(again)
	own := &batchv1.Job{}
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(again), own))
	if !metav1.IsControlledBy(own, again) || own.UID == first.UID {
		t.Errorf("the Job belongs to %+v", own.OwnerReferences)
	}
}

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

// A run does not take a LoadTest of the name of its load that was created by hand and asks for more.
// The loads of sale have 20 users together, as many as a LoadTest may have. While it waits, its author creates
// the LoadTest of one of them by hand, with the same number of workers and more users.
func TestALoadOfAnotherSpecIsNotTaken(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	r.Policy = func() *policy.Policy {
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{users: 20}]}")
	}
	lt := sale(t)
	r.mustPass(lt) // accepted, and in its place
	other := plan.Loads(lt)[1]
	other.Spec.Steps[0].Users = ptr.To[int32](20)
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), other))
	r.mustPass(lt)
	r.mustPass(lt)
	users := int32(0)
	for _, one := range loadsOf(t, lt) {
		if one.UID == "" {
			continue
		}
		r.mustPass(one)
		if one.Status.Phase == v1beta1.PhaseStarting {
			users += *one.Spec.Steps[0].Users
		}
	}
	if users > 20 {
		t.Errorf("the loads begin with %d users together, where 20 are allowed: %+v", users, lt.Status.Loads)
	}
}
