//go:build e2e

package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// rolledSends is how many requests a run against a headless Service has, each over a
	// connection of its own. Its users wait for each response: that two busy cores delay
	// them leaves none of them out. It takes 50 s at least, in which pods are to be replaced.
	// Responses take so long that users who begin within 25 ms of each other are a burst.
	rolledSends = 1600
	rolledSpec  = `
target: {service: {name: rolled, port: 8080}, disableKeepAlive: true, timeout: 5s}
requests: [{name: run, http: {path: "/run?delay=250ms"}}]
steps: [{name: 8 users x 200, users: 8, requestsPerUser: 200}]
worker: {resources: {requests: {cpu: 250m, memory: 32Mi}}}
`
	// drainsFor is how long a pod that is to go serves on at least: 3 s until the operator
	// reads it, and 5 s each that the worker and the cluster's name servers keep an answer.
	drainsFor = 12 * time.Second
)

// rolled is a headless Service with counters for pods, and a run against it.
type rolled struct {
	*testing.T
	namespace string
	pods      map[string]cluster.Counter
	lt        *v1beta1.LoadTest
	machine   pressure.Meter
}

// newRolled has a run of a spec, of requests or of calls, send to that many pods.
func newRolled(t *testing.T, pods int, spec string) *rolled {
	t.Helper()
	r := newRolledService(t)
	r.start("old", pods)
	r.lt = cluster.Create(t, r.namespace, "run", spec)
	r.await("old", pods)
	return r
}

// newRolledService has no pods, and no run.
func newRolledService(t *testing.T) *rolled {
	t.Helper()
	r := &rolled{T: t, namespace: cluster.Namespace(t), pods: map[string]cluster.Counter{}, machine: pressure.Start()}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "rolled"}, Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "rolled"}, Ports: []corev1.ServicePort{{Name: "http", Port: 8080}, {Name: "https", Port: 8443}},
	}}
	must.Succeed(t, errors.Join(cluster.API.Create(t.Context(), service), cluster.DescribeHealth(t.Context(), r.namespace)))
	return r
}

// start adds pods of a version.
func (r *rolled) start(version string, pods int) {
	r.Helper()
	for i := range pods {
		c := cluster.Counter{Namespace: r.namespace, Name: fmt.Sprintf("%s-%d", version, i)}
		pod := c.Pod("")
		pod.Labels = map[string]string{"app": "rolled"}
		must.Succeed(r, cluster.API.Create(r.Context(), pod))
		r.pods[c.Name] = c
	}
	for i := range pods {
		name := fmt.Sprintf("%s-%d", version, i)
		cluster.Soon(r.T, func(ctx context.Context) error {
			_, err := r.pods[name].Read(ctx)
			return errors.Join(err, r.leadsTo(ctx, name))
		})
	}
}

// leadsTo is nil once the Service has a pod among its endpoints: a run that begins before
// that connects to others, and to these alone for as long as its connections last.
func (r *rolled) leadsTo(ctx context.Context, pod string) error {
	var slices discoveryv1.EndpointSliceList
	if err := cluster.API.List(ctx, &slices, client.InNamespace(r.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: "rolled"}); err != nil {
		return err
	}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			if e.TargetRef != nil && e.TargetRef.Name == pod && ptr.Deref(e.Conditions.Ready, false) {
				return nil
			}
		}
	}
	return fmt.Errorf("the Service does not lead to %s", pod)
}

// await waits until so many pods of a version were asked.
func (r *rolled) await(version string, least int) {
	r.Helper()
	cluster.Soon(r.T, func(ctx context.Context) error {
		asked := 0
		for name, pod := range r.pods {
			if !strings.HasPrefix(name, version) {
				continue
			}
			if counts, err := pod.Read(ctx); err != nil {
				return err
			} else if counts["run"].Received > 0 {
				asked++
			}
		}
		if asked < least {
			return fmt.Errorf("%d %s pods were asked, want %d", asked, version, least)
		}
		return nil
	})
}

// asked is how often a pod was asked.
func (r *rolled) asked(pod string) int64 {
	r.Helper()
	return cluster.Received(r.T, r.pods[pod], "run")
}

// retire takes pods of a version out of the Service. They serve on, as those do that are
// ended with a grace period.
func (r *rolled) retire(version string, pods int) {
	r.Helper()
	for i := range pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: fmt.Sprintf("%s-%d", version, i)}}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"app": "retired"}}}`))
		must.Succeed(r, cluster.API.Patch(r.Context(), pod, patch))
	}
}

// received is how often all pods were asked.
func (r *rolled) received() (sum int64) {
	r.Helper()
	for name := range r.pods {
		n := r.asked(name)
		r.Logf("%s was asked %d times", name, n)
		sum += n
	}
	return sum
}

// mustAgree holds the run to Passed, and to as many requests as all pods have counted, which
// no busy machine excuses.
func (r *rolled) mustAgree() {
	r.Helper()
	cluster.Finish(r.T, r.lt)
	cluster.IsPassed(r.T, r.lt, r.machine)
	received := r.received()
	s := r.lt.Status.Steps[0].Result
	if s == nil || s.Sent != rolledSends || s.Expected != rolledSends || received != rolledSends {
		r.Errorf("%d received, want %d: %+v", received, rolledSends, s)
	}
}

// TestRollingRestart replaces the pods of a headless Service while a run connects to them.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		pods int
		// overlap says that old pods go after the new ones were asked, and not as soon as
		// these are ready.
		overlap bool
	}{
		{"new pods beside old ones", 2, true},
		{"one pod for another", 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRolled(t, tc.pods, rolledSpec)
			r.start("new", tc.pods)
			ready := time.Now()
			if tc.overlap {
				r.await("new", tc.pods)
			}
			r.retire("old", tc.pods)
			r.await("new", tc.pods)
			fmt.Printf("rolling restart, %s: new pods were asked after %.1f s\n", tc.name, time.Since(ready).Seconds())
			must.Succeed(t, cluster.SleepUntil(t.Context(), time.Now().Add(drainsFor)))
			old := r.asked("old-0")
			r.mustAgree()
			if after := r.asked("old-0"); after != old {
				t.Errorf("an old pod was asked %d times more, %s after it had left the Service", after-old, drainsFor)
			}
		})
	}
}

// TestHeadlessServiceLeadsToItsPodsAlone has name servers answer with the pod of another
// namespace while a run goes on. The operator does not name it: it gets no request, and the
// run ends.
func TestHeadlessServiceLeadsToItsPodsAlone(t *testing.T) {
	t.Parallel()
	other := cluster.CounterOf(t, cluster.Namespace(t))
	var pod corev1.Pod
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: other.Namespace, Name: other.Name}, &pod))
	r := newRolled(t, 1, rolledSpec)
	cluster.Until(t, r.lt, "measured", func(lt *v1beta1.LoadTest) bool { return lt.Status.Steps[0].Result != nil })
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.namespace, Name: "forged", Labels: map[string]string{discoveryv1.LabelServiceName: "rolled", corev1.IsHeadlessService: ""},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{pod.Status.PodIP}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("http"), Port: ptr.To[int32](8080)}},
	}
	must.Succeed(t, cluster.API.Create(t.Context(), slice))
	cluster.Finish(t, r.lt)
	if n := cluster.Received(t, other, "run"); n > 0 {
		t.Errorf("a pod that the operator did not name was asked %d times", n)
	}
	failed := cluster.Condition(r.lt, v1beta1.ConditionCarriedOut)
	if failed.Status != metav1.ConditionFalse || failed.Reason != v1beta1.ReasonTargetNotAllowed {
		t.Errorf("%s: %s; want that the run ended, since its target is not allowed any more", failed.Reason, failed.Message)
	}
}

// TestADeletedServiceEndsItsRun deletes the Service of a run that sends load to its address.
func TestADeletedServiceEndsItsRun(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	counter := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "gone", `
target: {service: {name: counter}}
requests: [{name: run, http: {path: /run}}]
steps: [{name: 20/s, rate: 20, duration: 2m}]
parallelism: 1
`)
	cluster.Until(t, lt, "measured", func(lt *v1beta1.LoadTest) bool { return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil })
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: counter.Name}}
	must.Succeed(t, cluster.API.Delete(t.Context(), service))
	deleted := time.Now()
	cluster.Finish(t, lt)
	ended := lt.Status.CompletionTime.Sub(deleted)
	failed := cluster.Condition(lt, v1beta1.ConditionCarriedOut)
	if failed.Reason != v1beta1.ReasonTargetGone || lt.Status.Verdict != v1beta1.VerdictError {
		t.Errorf("verdict %s, %s: %s; want Error, since the Service is gone", lt.Status.Verdict, failed.Reason, failed.Message)
	}
	fmt.Printf("deleted Service: the run ended after %.1f s: %s\n", ended.Seconds(), failed.Message)
}

// TestADeletedNamespaceEndsItsLoad deletes a namespace in which a run is under way: the target, in
// another, gets nothing any more within 10 s.
func TestADeletedNamespaceEndsItsLoad(t *testing.T) {
	t.Parallel()
	ns, other := cluster.Namespace(t), cluster.Namespace(t)
	counter := cluster.CounterOf(t, other)
	cluster.MustCommand(t, "kubectl", "label", "namespace", other, "loadtest.dev/accepts-load=true")
	lt := cluster.Create(t, ns, "run", fmt.Sprintf(`
target: {url: "http://counter.%s.svc"}
requests: [{name: run, http: {path: /run}}]
steps: [{name: 20/s, rate: 20, duration: 2m}]
parallelism: 2
`, other))
	cluster.Until(t, lt, "measured", func(lt *v1beta1.LoadTest) bool { return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil })
	deleted, machine := time.Now(), pressure.Start()
	must.Succeed(t, cluster.API.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))
	last, at := int64(-1), time.Duration(0)
	cluster.Soon(t, func(ctx context.Context) error {
		counts, err := counter.Read(ctx)
		n := counts["run"].Received
		switch now := time.Since(deleted); {
		case err != nil:
			return err
		case n != last:
			last, at = n, now
			return fmt.Errorf("%d requests so far", n)
		case now < at+5*time.Second:
			return fmt.Errorf("nothing for %s", now-at)
		}
		return nil
	})
	if reading := machine.Read(); at > 10*time.Second && !reading.Busy() {
		t.Errorf("the target got requests for %s after the namespace was deleted, want at most 10s (%s)", at, reading)
	}
	fmt.Printf("deleted namespace: load ended after %.1f s, with %d requests\n", at.Seconds(), last)
}

// TestAWorkerThatIsDeletedBeforeItsRunIsReplaced deletes the pod of a worker that waits for its
// target: the workers are started again, and the run passes when the target is there.
func TestAWorkerThatIsDeletedBeforeItsRunIsReplaced(t *testing.T) {
	t.Parallel()
	r := newRolledService(t)
	r.lt = cluster.Create(t, r.namespace, "run", `
target: {service: {name: rolled, port: 8080}, timeout: 5s}
requests: [{name: run, http: {path: /run}}]
steps: [{name: 4 users x 5, users: 4, requestsPerUser: 5}]
parallelism: 2
startDeadlineSeconds: 150
worker: {resources: {requests: {cpu: 250m, memory: 32Mi}}}
`)
	first := r.workers(nil)
	must.Succeed(t, cluster.API.Delete(t.Context(), &first[1]))
	r.workers(first)
	r.start("old", 1)
	cluster.Finish(t, r.lt)
	cluster.IsPassed(t, r.lt, r.machine)
	if n, s := r.received(), r.lt.Status.Steps[0].Result; s == nil || s.Sent != 20 || n != 20 {
		t.Errorf("%d received, want 20: %+v", n, s)
	}
}

// workers waits until both workers of the run have pods that run, and are others than before.
func (r *rolled) workers(before []corev1.Pod) (pods []corev1.Pod) {
	r.Helper()
	cluster.Soon(r.T, func(ctx context.Context) error {
		var list corev1.PodList
		if err := cluster.API.List(ctx, &list, client.InNamespace(r.namespace), client.MatchingLabels{"batch.kubernetes.io/job-name": "run"}); err != nil {
			return err
		}
		pods = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool {
			return p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil || slices.ContainsFunc(before, func(b corev1.Pod) bool { return b.UID == p.UID })
		})
		if len(pods) != 2 {
			return fmt.Errorf("%d of 2 workers run: %s", len(pods), cluster.Condition(r.lt, v1beta1.ConditionWorkersReady).Message)
		}
		return nil
	})
	return pods
}
