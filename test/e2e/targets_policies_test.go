//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// enforced says that the cluster is known to enforce NetworkPolicies, and to let
// the API server through to the pods that the audit asks.
func enforced() bool { return env("CLUSTER", "local") == "local" }

// How a door is found, as knock says it.
const (
	ajar = "open"
	shut = "closed"
)

// knock tries each of its arguments, SECONDS@NAME:PORT, all at once. Whoever answers
// does so at once, if only that this is no Redis; whose packets are dropped waits.
const knock = `for door; do
  at=${door#*@}
  (timeout "${door%%@*}" redis-cli -h "${at%:*}" -p "${at#*:}" ping >/dev/null 2>&1
  if test $? = 124; then echo "$at closed"; else echo "$at open"; fi) &
done; wait`

// How many seconds to wait for a door that is to open, on a busy machine too, and for
// one that is not, which nobody need be sure of to a second.
const (
	secondsOpen   = 60
	secondsClosed = 3
)

// stranger sees from a pod that is none of the target's which of its Services
// answer: the front door, and none that leads elsewhere. That the target's own
// pods are let through is what the load has shown.
func (x *trial) stranger(t *testing.T) {
	t.Helper()
	x.stage = "a stranger's visit"
	want := x.doors(t)
	pod := x.visitor(want)
	if err := cluster.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, err
	})
	if err != nil {
		t.Fatalf("the stranger's pod does not end: %v", err)
	}
	log, err := cluster.pods.CoreV1().Pods(x.ns).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(log)) {
		address, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[address] = state
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("what a stranger reaches (-want +got):\n%s", diff)
	}
	closed := 0
	for _, state := range got {
		if state == shut {
			closed++
		}
	}
	x.Findings = append(x.Findings, fmt.Sprintf("%d of %d doors closed to strangers", closed, len(got)))
}

// doors are the addresses of all Services, and whether a stranger is to be let in:
// by the front door, and by what leads to the same pods.
func (x *trial) doors(t *testing.T) map[string]string {
	t.Helper()
	var services corev1.ServiceList
	if err := cluster.List(t.Context(), &services, client.InNamespace(x.ns)); err != nil {
		t.Fatal(err)
	}
	component := func(s corev1.Service) string { return s.Spec.Selector["app.kubernetes.io/component"] }
	front := ""
	for _, s := range services.Items {
		if s.Name == x.Preset.Host {
			front = component(s)
		}
	}
	doors := map[string]string{}
	for _, s := range services.Items {
		for _, p := range s.Spec.Ports {
			state := shut
			if component(s) == front {
				state = ajar
			}
			doors[fmt.Sprintf("%s:%d", s.Name, p.Port)] = state
		}
	}
	return doors
}

func (x *trial) visitor(doors map[string]string) *corev1.Pod {
	seconds := map[string]int{ajar: secondsOpen, shut: secondsClosed}
	var knocks []string
	for _, address := range slices.Sorted(maps.Keys(doors)) {
		knocks = append(knocks, fmt.Sprintf("%d@%s", seconds[doors[address]], address))
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stranger", Namespace: x.ns},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "stranger", Image: image("redis") + ":" + imageTag(), ImagePullPolicy: corev1.PullNever,
				Command: append([]string{"sh", "-c", knock, "knock"}, knocks...),
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
