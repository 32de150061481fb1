//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// errNothingToHit says that a fault has no subject at the moment.
var errNothingToHit = errors.New("there is none")

// inject brings a fault about, and takes it back when it has lasted. The API server may
// be about to come back from the last one.
func (s *soaker) inject(ctx context.Context, a soak.Action) error {
	s.say("fault: %s", a.What)
	var undone undo
	var lasts time.Duration
	err := cluster.Try(ctx, cluster.Patience, func(ctx context.Context) (err error) {
		undone, lasts, err = s.hit(ctx, a)
		if errors.Is(err, errNothingToHit) {
			s.say("fault: %s: %v", a.What, err)
			return nil
		}
		return err
	})
	if err != nil || undone == nil {
		return err
	}
	// Be the test over or not.
	return takeBack(context.WithoutCancel(ctx), undone, time.Now().Add(lasts))
}

// hit does what a fault does, and returns how it is taken back, and after which time.
func (s *soaker) hit(ctx context.Context, a soak.Action) (undo, time.Duration, error) {
	switch a.What {
	case soak.StopAPI:
		undone, err := stopAPIServer(context.WithoutCancel(ctx))
		return undone, 5 * time.Second, err
	case soak.DeleteLease:
		held, err := cluster.Lease(ctx)
		if err != nil {
			return nil, 0, err
		}
		return nil, 0, cluster.API.Delete(ctx, held)
	case soak.KillWorker, soak.CutWorkers:
		return s.hitWorker(ctx, a)
	}
	leading, err := cluster.Leader(ctx)
	if err != nil {
		return nil, 0, err
	}
	switch a.What {
	case soak.KillLeader:
		return nil, 0, killAndReplace(ctx, leading)
	case soak.StopLeader:
		return nil, 0, cluster.API.Delete(ctx, leading)
	case soak.KillStandby:
		return nil, 0, s.killStandby(ctx, leading)
	case soak.ResetAPI:
		undone, err := cutFromAPI(ctx, "soak", cuts[1], leading)
		return undone, 2 * time.Second, err
	case soak.CutLeader:
		undone, err := cutNode(ctx, leading)
		return undone, 10 * time.Second, err
	}
	return nil, 0, fmt.Errorf("%s is no fault", a.What)
}

// hitWorker hits a worker that runs, or the node of one on which no operator leads.
func (s *soaker) hitWorker(ctx context.Context, a soak.Action) (undo, time.Duration, error) {
	var pods corev1.PodList
	if err := cluster.API.List(ctx, &pods, client.InNamespace(s.target.Namespace), client.HasLabels{cluster.RunLabel}); err != nil {
		return nil, 0, err
	}
	leading, err := cluster.Leader(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i := range pods.Items {
		pod := &pods.Items[(i+a.Pick)%len(pods.Items)]
		switch {
		case pod.Status.Phase != corev1.PodRunning:
		case a.What == soak.KillWorker:
			_ = signal(pod, syscall.SIGKILL) // it may have ended since
			return nil, 0, nil
		case pod.Spec.NodeName != leading.Spec.NodeName:
			undone, err := cutNode(ctx, pod)
			return undone, 10 * time.Second, err
		}
	}
	return nil, 0, errNothingToHit
}

func (s *soaker) killStandby(ctx context.Context, leading *corev1.Pod) error {
	pods, err := cluster.OperatorPods(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		if pods[i].Name != leading.Name && pods[i].Status.Phase == corev1.PodRunning {
			return killAndReplace(ctx, &pods[i])
		}
	}
	return errNothingToHit
}

// killAndReplace ends the processes of a pod without a warning. It gives its place to
// another one, since the kubelet waits ever longer before it starts the same one again.
func killAndReplace(ctx context.Context, pod *corev1.Pod) error {
	_ = signal(pod, syscall.SIGKILL) // it may be starting
	return cluster.API.Delete(ctx, pod, client.GracePeriodSeconds(0))
}

// cutNode keeps the pods of a pod's node from those of others and from the API server.
func cutNode(ctx context.Context, pod *corev1.Pod) (undo, error) {
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return nil, fmt.Errorf("address of pod %s: %w", pod.Name, err)
	}
	pods, err := address.Prefix(24) // that of a node of the local cluster
	if err != nil {
		return nil, err
	}
	return partition(ctx, "soak", []string{
		fmt.Sprintf("forward: ip saddr %[1]s ip daddr != %[1]s drop", pods),
		fmt.Sprintf("forward: ip daddr %[1]s ip saddr != %[1]s drop", pods),
		fmt.Sprintf("input: ip saddr %s tcp dport %s drop", pods, apiPorts),
		fmt.Sprintf("output: ip daddr %s tcp sport %s drop", pods, apiPorts),
	})
}
