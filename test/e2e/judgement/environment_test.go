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

// environmentSpec sends for so long that a pod of the target can start meanwhile, on a
// busy machine, too, from the node of the target. What fails is no matter.
const environmentSpec = `
target: {service: {name: counter}, timeout: 1s}
requests: [{name: count, http: {path: /environment}}]
steps: [{name: quiet, rate: 20, duration: 15s}, {name: hit, rate: 20, duration: 25s}]
thresholds: [{metric: failureRate, max: 100%%}, {metric: unsentRate, max: 100%%}, {metric: downtime, max: 100%%}]
worker: {nodeSelector: {kubernetes.io/hostname: %s}}
`

// checkEnvironment restarts one target in the middle of a step, and scales another. What
// the cluster says of their pods is the truth.
func checkEnvironment(t *testing.T) judgement {
	restarted, scaled := cluster.Namespace(t), cluster.Namespace(t)
	var targets []cluster.Counter
	var tests []*v1beta1.LoadTest
	for _, ns := range []string{restarted, scaled} {
		target := cluster.CounterOf(t, ns)
		var pod corev1.Pod
		must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: target.Name}, &pod))
		targets, tests = append(targets, target), append(tests, cluster.Create(t, ns, "environment", fmt.Sprintf(environmentSpec, pod.Spec.NodeName)))
	}
	hits := []func() error{
		func() error { return targets[0].Crash(t.Context()) },
		func() error {
			another := targets[1].Pod("")
			another.Name = "another"
			return cluster.API.Create(t.Context(), another)
		},
	}
	var truth, found string
	for i, lt := range tests {
		cluster.Until(t, lt, "in its second step", func(lt *v1beta1.LoadTest) bool {
			return len(lt.Status.Steps) == 2 && lt.Status.Steps[1].Result != nil && lt.Status.Steps[1].Result.Sent > 0
		})
		must.Succeed(t, hits[i]())
	}
	for _, lt := range tests {
		cluster.Finish(t, lt)
		truth += environmentTruth(t, lt)
		found += environmentFound(t, lt)
	}
	return agree("Passed, Inconclusive TargetChanged; "+truth,
		fmt.Sprintf("%s, %s %s; %s", tests[0].Status.Verdict, tests[1].Status.Verdict, cluster.Condition(tests[1], v1beta1.ConditionThresholdsMet).Reason, found), tests...)
}

// environmentTruth is what the cluster says of the pods of a target, and of the workers on
// their nodes.
func environmentTruth(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(lt.Namespace)))
	count, restarts, shared := 0, int32(0), 0
	nodes := map[string]bool{}
	for _, pod := range pods.Items {
		if pod.Labels["app"] == "counter" {
			count++
			nodes[pod.Spec.NodeName] = true
			restarts += pod.Status.ContainerStatuses[0].RestartCount
		}
	}
	for _, pod := range pods.Items {
		if pod.Labels["app"] != "counter" && nodes[pod.Spec.NodeName] {
			shared++
		}
	}
	return fmt.Sprintf("%d pods, %d restarts, %d workers on their nodes; ", count, restarts, shared)
}

func environmentFound(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	env, step := lt.Status.Environment, lt.Status.Steps[1].Environment
	if env == nil || step == nil || step.Before == nil || step.After == nil {
		return fmt.Sprintf("environment %+v, step %+v; ", env, step)
	}
	for _, c := range step.Changes {
		t.Logf("%s: %s %s", lt.Namespace, c.Reason, c.Message)
	}
	shared := int32(0)
	for _, node := range env.SharedNodes {
		shared += node.Workers
	}
	if len(env.Configurations) != 1 || env.Configurations[0].Containers[0].Digest == "" {
		t.Errorf("configurations %+v, want one with a digest", env.Configurations)
	}
	return fmt.Sprintf("%d pods, %d restarts, %d workers on their nodes; ", step.After.Pods, step.After.Restarts, shared)
}
