//go:build e2e

package runs

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// twoInTurnSpec has a load that waits for the end of another. RUN is the path under which the target counts.
const twoInTurnSpec = `
target: {service: {name: counter}}
requests: [{name: read, http: {path: /RUN-read}}, {name: write, http: {path: /RUN-write}}]
loads:
  - {name: readers, requests: [read], steps: [{name: all, rate: 20, duration: 10s}]}
  - {name: writers, requests: [write], after: readers, steps: [{name: all, rate: 20, duration: 5s}]}
worker: {resources: {requests: {cpu: 50m, memory: 32Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// TestLoadsAreHeldEditedAndCreatedAnew compares what loads sent with what the target counted, when a user does
// to their run what users do to runs.
func TestLoadsAreHeldEditedAndCreatedAnew(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	for _, c := range []struct {
		name string
		// run creates a run in a namespace, does this to it, and returns the one whose counts are compared.
		run func(*testing.T, string) *v1beta1.LoadTest
		// readers are how many requests its first load has due.
		readers int64
	}{
		{"held before it begins, and edited", heldAndEdited, 100},
		{"held in its first load", heldInItsFirstLoad, 200},
		{"deleted, and created anew at once", createdAnew, 200},
		{"a load edited while it waits", loadEditedWhileItWaits, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := cluster.Namespace(t)
			counter := cluster.CounterOf(t, ns)
			machine := pressure.Start()
			lt := c.run(t, ns)
			cluster.Finish(t, lt)
			cluster.IsPassed(t, lt, machine)
			t.Log(cluster.Condition(lt, v1beta1.ConditionFinished).Message)
			counted, s := counter.MustRead(t), &loadsSuite{}
			loads := loadTestsOf(t, lt)
			s.same(t, "request read", counted[lt.Name+"-read"].Received, sentOf(loads[0], "read"))
			s.same(t, "due of readers", c.readers, lt.Status.Loads[0].Result.Due)
			s.same(t, "request write", counted[lt.Name+"-write"].Received, sentOf(loads[1], "write"))
			s.same(t, "due of writers", 100, lt.Status.Loads[1].Result.Due)
		})
	}
}

// twoInTurn creates a run with two loads, with paths of their own.
func twoInTurn(t *testing.T, ns, path, more string) *v1beta1.LoadTest {
	t.Helper()
	return cluster.Create(t, ns, "run", strings.ReplaceAll(twoInTurnSpec, "RUN", path)+more)
}

// patch changes fields of the spec, given as a merge patch.
func patch(t *testing.T, lt *v1beta1.LoadTest, spec string) {
	t.Helper()
	must.Succeed(t, cluster.API.Patch(t.Context(), lt, client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+spec+`}`))))
}

func isSuspended(lt *v1beta1.LoadTest) bool { return lt.Status.Phase == v1beta1.PhaseSuspended }

// inItsFirstLoad waits until the first load has sent for some seconds.
func inItsFirstLoad(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	cluster.Until(t, lt, "in its first load", hasBegun)
	must.Succeed(t, cluster.SleepUntil(t.Context(), lt.Status.Loads[0].BeginTime.Add(3*time.Second)))
}

func heldAndEdited(t *testing.T, ns string) *v1beta1.LoadTest {
	lt := twoInTurn(t, ns, "run", "suspend: true\n")
	cluster.Until(t, lt, "suspended", isSuspended)
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(ns), client.HasLabels{"batch.kubernetes.io/job-name"}))
	if len(pods.Items) > 0 {
		t.Errorf("%d workers are there while the run is held", len(pods.Items))
	}
	lt.Spec.Loads[0].Steps[0].Duration.Duration = 5 * time.Second
	must.Succeed(t, cluster.API.Update(t.Context(), lt))
	patch(t, lt, `{"suspend":false}`)
	return lt
}

func heldInItsFirstLoad(t *testing.T, ns string) *v1beta1.LoadTest {
	lt := twoInTurn(t, ns, "run", "")
	inItsFirstLoad(t, lt)
	patch(t, lt, `{"suspend":true}`)
	cluster.Until(t, lt, "suspended", isSuspended)
	must.Succeed(t, cluster.SleepUntil(t.Context(), time.Now().Add(8*time.Second)))
	patch(t, lt, `{"suspend":false}`)
	return lt
}

// createdAnew deletes a run that sends, whose loads are then deleted too, and creates one of the same name.
func createdAnew(t *testing.T, ns string) *v1beta1.LoadTest {
	first := twoInTurn(t, ns, "first", "")
	inItsFirstLoad(t, first)
	must.Succeed(t, cluster.API.Delete(t.Context(), first))
	return twoInTurn(t, ns, "run", "")
}

// loadEditedWhileItWaits tries to give the second load more workers than the run has a place for.
func loadEditedWhileItWaits(t *testing.T, ns string) *v1beta1.LoadTest {
	lt := twoInTurn(t, ns, "run", "")
	inItsFirstLoad(t, lt)
	one := &v1beta1.LoadTest{}
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "run-writers"}, one))
	err := cluster.API.Patch(t.Context(), one, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"parallelism":5}}`)))
	must.Say(t, err, "parallelism cannot change once the run has started")
	return lt
}
