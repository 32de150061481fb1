//go:build e2e

package targets

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The states of a port in the output of probeScript.
const (
	portOpen   = "open"
	portClosed = "closed"
)

// probeScript connects to each of its arguments, SECONDS@NAME:PORT, concurrently.
// An open port replies at once, any server with at least an error; a port whose
// packets are dropped does not reply before the timeout.
const probeScript = `for probe; do
  at=${probe#*@}
  (timeout "${probe%%@*}" redis-cli -h "${at%:*}" -p "${at#*:}" ping >/dev/null 2>&1
  if test $? = 124; then echo "$at closed"; else echo "$at open"; fi) &
done; wait`

// The timeouts in seconds of a port that must be open, also on a busy machine, and of
// one that must be closed, which need not be exact.
const (
	secondsOpen   = 60
	secondsClosed = 3
)

// checkPolicies checks from a pod outside the target that only the Service of the
// front pods replies. The load has shown that the target's own pods are allowed.
func (x *trial) checkPolicies(t *testing.T) {
	t.Helper()
	x.phase = "the network policies"
	want := x.serviceStates(t)
	pod := x.probePod(want)
	must.Succeed(t, cluster.API.Create(t.Context(), pod))
	cluster.Soon(t, func(ctx context.Context) error {
		err := cluster.API.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if err == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			err = fmt.Errorf("the probe pod is %s", pod.Status.Phase)
		}
		return err
	})
	log, err := cluster.Clientset.CoreV1().Pods(x.ns).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	must.Succeed(t, err)
	got := map[string]string{}
	for line := range strings.Lines(string(log)) {
		address, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[address] = state
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("reachable Services (-want +got):\n%s", diff)
	}
	closed := 0
	for _, state := range got {
		if state == portClosed {
			closed++
		}
	}
	x.Findings = append(x.Findings, fmt.Sprintf("%d of %d Services closed to other pods", closed, len(got)))
}

// serviceStates maps the addresses of all Services to the wanted state: open for those
// that select the front pods, closed for the others.
func (x *trial) serviceStates(t *testing.T) map[string]string {
	t.Helper()
	var services corev1.ServiceList
	must.Succeed(t, cluster.API.List(t.Context(), &services, client.InNamespace(x.ns)))
	component := func(s corev1.Service) string { return s.Spec.Selector["app.kubernetes.io/component"] }
	front := ""
	for _, s := range services.Items {
		if s.Name == x.Preset.Host {
			front = component(s)
		}
	}
	states := map[string]string{}
	for _, s := range services.Items {
		for _, p := range s.Spec.Ports {
			state := portClosed
			if component(s) == front {
				state = portOpen
			}
			states[fmt.Sprintf("%s:%d", s.Name, p.Port)] = state
		}
	}
	return states
}

func (x *trial) probePod(states map[string]string) *corev1.Pod {
	seconds := map[string]int{portOpen: secondsOpen, portClosed: secondsClosed}
	var probes []string
	for _, address := range slices.Sorted(maps.Keys(states)) {
		probes = append(probes, fmt.Sprintf("%d@%s", seconds[states[address]], address))
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: x.ns},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "probe", Image: cluster.Image("redis") + ":" + cluster.ImageTag(), ImagePullPolicy: corev1.PullNever,
				Command: append([]string{"sh", "-c", probeScript, "probe"}, probes...),
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
