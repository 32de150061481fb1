package loadtest_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
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
	r.mustPass(lt)
	r.mustPass(lt)
	bringPods(t, lt)
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
