package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OperatorLabel selects the operator's pods.
const OperatorLabel = "app.kubernetes.io/name=loadtest-operator"

// Lease is the one that the leading replica holds.
func Lease(ctx context.Context) (*coordinationv1.Lease, error) {
	var leases coordinationv1.LeaseList
	if err := API.List(ctx, &leases, client.InNamespace(OperatorNamespace)); err != nil {
		return nil, err
	}
	for i := range leases.Items {
		if l := &leases.Items[i]; strings.HasPrefix(l.Name, "loadtest-operator") && l.Spec.HolderIdentity != nil {
			return l, nil
		}
	}
	return nil, errors.New("no replica of the operator leads")
}

// Leader is the pod of the replica that leads.
func Leader(ctx context.Context) (*corev1.Pod, error) {
	held, err := Lease(ctx)
	if err != nil {
		return nil, err
	}
	pods, err := OperatorPods(ctx)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		if strings.HasPrefix(*held.Spec.HolderIdentity, pods[i].Name) {
			return &pods[i], nil
		}
	}
	return nil, fmt.Errorf("the lease is held by %s, which is not a pod", *held.Spec.HolderIdentity)
}

// OperatorPods are those of all replicas.
func OperatorPods(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := API.List(ctx, &pods, client.InNamespace(OperatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": "loadtest-operator"})
	return pods.Items, err
}

// AwaitOperator waits until all replicas are there again, and one leads.
func AwaitOperator(ctx context.Context) error {
	if _, err := Command(ctx, "kubectl", "-n", OperatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+Patience.String()); err != nil {
		return err
	}
	return Try(ctx, Patience, func(ctx context.Context) error {
		pod, err := Leader(ctx)
		if err == nil && pod.DeletionTimestamp != nil {
			err = fmt.Errorf("%s still leads", pod.Name)
		}
		return err
	})
}

// Theft is the user agent of a client with a token of the operator.
const Theft = "theft"

// OperatorName is the name of its Deployment, its account and its release.
const OperatorName = "loadtest-operator"

// RunLabel has the UID of the LoadTest for which an object was made.
const RunLabel = "loadtest.dev/run"

// AwaitLeader waits for a leader that is another pod.
func AwaitLeader(t *testing.T, than types.UID) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	Soon(t, func(ctx context.Context) error {
		if pod = Leading(ctx); pod == nil || pod.UID == than {
			return errors.New("no operator leads")
		}
		return nil
	})
	return pod
}

// Leading is the operator's pod that holds the lease and the Service and is ready; nil:
// there is none.
func Leading(ctx context.Context) *corev1.Pod {
	var lease coordinationv1.Lease
	var slice discoveryv1.EndpointSlice
	var pod corev1.Pod
	get := func(name string, into client.Object) bool {
		return API.Get(ctx, client.ObjectKey{Namespace: OperatorNamespace, Name: name}, into) == nil
	}
	if !get("loadtest-operator.loadtest.dev", &lease) || !get("loadtest-operator-leader", &slice) || lease.Spec.HolderIdentity == nil {
		return nil
	}
	name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	if !get(name, &pod) || slice.Endpoints[0].Addresses[0] != pod.Status.PodIP || !PodReady(&pod) {
		return nil
	}
	return &pod
}

// PodReady says whether a pod is ready.
func PodReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
