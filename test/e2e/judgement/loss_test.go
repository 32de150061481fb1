//go:build e2e

package judgement

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// goesOnSpec sends to a target that counts, from two workers of which one is lost.
const goesOnSpec = `
target: {service: {name: counter}, timeout: 2s}
requests: [{name: count, http: {path: /goes-on}}]
steps: [{name: loses, rate: 20, duration: 15s}, {name: goes-on, rate: 20, duration: 3s}]
thresholds: [{metric: failureRate, max: 1%}, {metric: unsentRate, max: 1%}]
parallelism: 2
worker: {onLoss: Continue}
`

// checkLoss deletes a worker in the middle of the first of two steps. The other carries
// its half of both out; what the target counted is the truth.
func checkLoss(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "goes-on", goesOnSpec)
	cluster.Until(t, lt, "in its first step", func(lt *v1beta1.LoadTest) bool {
		return len(lt.Status.Steps) == 2 && lt.Status.Steps[0].Result != nil && lt.Status.Steps[0].WorkersReporting == 2
	})
	var pods corev1.PodList
	if err := cluster.API.List(t.Context(), &pods, client.InNamespace(ns), client.HasLabels{"loadtest.dev/run"}); err != nil || len(pods.Items) != 2 {
		t.Fatalf("%d workers, %v; want 2", len(pods.Items), err)
	}
	must.Succeed(t, cluster.API.Delete(t.Context(), &pods.Items[0], client.GracePeriodSeconds(0)))
	cluster.Finish(t, lt)
	counts := target.MustRead(t)
	t.Log(cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	first, second := lt.Status.Steps[0], lt.Status.Steps[1]
	if first.MissingAtMost == nil || second.MissingAtMost == nil || second.Result == nil {
		return judgement{truth: "two steps with bounds", found: fmt.Sprintf("%+v, %+v", first, second), wrong: true}
	}
	sent, missing := first.Result.Sent+second.Result.Sent, *first.MissingAtMost+*second.MissingAtMost
	received := counts["goes-on"].Received
	truth := fmt.Sprintf("Inconclusive WorkerLost, the second step 30 of 60 and none missing, %d received are counted but for those that are missing", received)
	within := fmt.Sprintf("%d sent and at most %d missing", sent, missing)
	if received >= sent && received <= sent+missing {
		within = fmt.Sprintf("%d received are counted but for those that are missing", received)
	}
	return agree(truth, fmt.Sprintf("%s %s, the second step %d of %d and %s missing, %s",
		lt.Status.Verdict, cluster.Condition(lt, v1beta1.ConditionThresholdsMet).Reason, second.Result.Due, second.Load.Requests,
		map[bool]string{true: "none", false: "some"}[*second.MissingAtMost == 0 && second.Coverage == "50%"], within), lt)
}
