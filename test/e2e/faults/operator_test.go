//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// sharedFaults are those of the operator, the API server and nodes. Each is made when
// its turn comes, since it depends on which replica leads.
func (c *campaign) sharedFaults() []func(context.Context) (shared, error) {
	all := []func(context.Context) (shared, error){c.operatorKilled}
	if !c.full {
		return all
	}
	all = append(all, onLeader("operator deleted", 0, deleteGracefully), leaseDeleted)
	if !c.local {
		return all
	}
	for _, lasts := range []time.Duration{20 * time.Second, 60 * time.Second} {
		all = append(all, onLeader(fmt.Sprintf("operator stopped %s", lasts), lasts,
			func(_ context.Context, pod *corev1.Pod) (undo, error) { return freeze(pod) }))
	}
	all = append(all, operatorsNodeStopped, workersNodeStopped)
	for _, lasts := range []time.Duration{5 * time.Second, 31 * time.Second, 120 * time.Second} {
		for _, how := range cuts {
			all = append(all, cutFromAPIServer(how, lasts))
		}
	}
	for _, lasts := range []time.Duration{5 * time.Second, 15 * time.Second, 180 * time.Second} {
		all = append(all, apiServerAway(lasts))
	}
	return append(all, controlPlaneFaults()...)
}

// operatorKilled has runs over other protocols beside those at each instant.
func (c *campaign) operatorKilled(ctx context.Context) (shared, error) {
	x, err := onLeader("operator killed", 0, c.kill)(ctx)
	for i, p := range allProtocols {
		if !c.full && i%2 == 0 {
			continue // HTTP/2 over TLS and gRPC have all parts of the others
		}
		x.instants = append(x.instants, fault.Instant{Name: "arrivals over " + p.name, Load: p.over(twoSteps()), Released: -fault.Lead - twoStepsLength/2})
	}
	return x, err
}

// kill ends the operator's process without a warning.
func (c *campaign) kill(ctx context.Context, pod *corev1.Pod) (undo, error) {
	if !c.local {
		return deleteAtOnce(ctx, pod)
	}
	return nil, signal(pod, syscall.SIGKILL)
}

// onLeader is a fault of the replica that leads, at all instants.
func onLeader(name string, lasts time.Duration, inject func(context.Context, *corev1.Pod) (undo, error)) func(context.Context) (shared, error) {
	return func(context.Context) (shared, error) {
		return shared{name: name, lasts: lasts, instants: fault.Instants(), inject: func(ctx context.Context) (undo, error) {
			pod, err := cluster.Leader(ctx)
			if err != nil {
				return nil, err
			}
			return inject(ctx, pod)
		}}, nil
	}
}

// few are instants for faults of which there are many.
func few() []fault.Instant {
	return some("starting", "the gate", "the middle of a step", "the end of a step", "a pause", "finishing")
}

func leaseDeleted(context.Context) (shared, error) {
	return shared{name: "lease deleted", instants: few(), inject: func(ctx context.Context) (undo, error) {
		lease, err := cluster.Lease(ctx)
		if err != nil {
			return nil, err
		}
		return nil, cluster.API.Delete(ctx, lease)
	}}, nil
}

func cutFromAPIServer(how cut, lasts time.Duration) func(context.Context) (shared, error) {
	return func(context.Context) (shared, error) {
		name := fmt.Sprintf("no API %s, %s", lasts, how.name)
		return shared{name: name, lasts: lasts, instants: few(), inject: func(ctx context.Context) (undo, error) {
			pod, err := cluster.Leader(ctx)
			if err != nil {
				return nil, err
			}
			return cutFromAPI(ctx, "operator", how, pod)
		}}, nil
	}
}

func apiServerAway(lasts time.Duration) func(context.Context) (shared, error) {
	return func(context.Context) (shared, error) {
		return shared{name: fmt.Sprintf("API server away %s", lasts), lasts: lasts, instants: few(), inject: stopAPIServer}, nil
	}
}

// operatorsNodeStopped stops the node of the replica that leads; all runs are on
// another one.
func operatorsNodeStopped(ctx context.Context) (shared, error) {
	x := shared{name: "operator's node stopped", instants: fault.Instants()}
	pod, err := cluster.Leader(ctx)
	if err != nil {
		return x, err
	}
	x.deadNode = pod.Spec.NodeName
	pods, err := cluster.OperatorPods(ctx)
	if err != nil {
		return x, err
	}
	// The scheduler prefers different nodes, and may choose the same one.
	if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != x.deadNode && cluster.PodReady(&p) }) {
		return x, fmt.Errorf("no replica of the operator is ready on another node than %s, and none could take over", x.deadNode)
	}
	x.node, err = anotherNode(ctx, x.deadNode)
	x.targetNode = x.node
	x.inject = func(ctx context.Context) (undo, error) { return stopNode(ctx, x.deadNode) }
	return x, err
}

// workersNodeStopped stops a node that has a worker of each run, and neither the
// operator that leads nor the target.
func workersNodeStopped(ctx context.Context) (shared, error) {
	x := shared{name: "worker's node stopped", want: &fault.Expectation{Verdicts: []string{fault.Inconclusive, fault.Error}, WorkerGone: true}}
	pod, err := cluster.Leader(ctx)
	if err != nil {
		return x, err
	}
	if x.deadNode, err = anotherNode(ctx, pod.Spec.NodeName); err != nil {
		return x, err
	}
	x.inject = func(ctx context.Context) (undo, error) { return stopNode(ctx, x.deadNode) }
	x.targetNode = pod.Spec.NodeName
	on := func(spec *v1beta1.LoadTestSpec) { spec.Worker = onNode(x.deadNode) }
	long, short := users(25*time.Second), users(4*time.Second)
	for _, workers := range []int{1, 3} {
		change, name := on, "one worker"
		if workers > 1 {
			change, name = nil, "three workers" // on a node each
		}
		x.instants = append(x.instants,
			fault.Instant{Name: name + ", first step", Created: -12 * time.Second,
				Load: fault.Load{Workers: workers, Steps: []fault.Step{long, short}, Change: change}},
			fault.Instant{Name: name + ", last step", Released: -fault.Lead - 5*time.Second,
				Load: fault.Load{Workers: workers, Steps: []fault.Step{short, users(10 * time.Second)}, Change: change}})
	}
	return x, nil
}

func onNode(name string) *v1beta1.Worker {
	return &v1beta1.Worker{NodeSelector: map[string]string{corev1.LabelHostname: name}}
}

func anotherNode(ctx context.Context, than string) (string, error) {
	var nodes corev1.NodeList
	if err := cluster.API.List(ctx, &nodes); err != nil {
		return "", err
	}
	for _, n := range nodes.Items {
		if n.Name != than {
			return n.Name, nil
		}
	}
	return "", errors.New("the cluster has one node only")
}
