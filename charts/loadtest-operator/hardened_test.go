package chart_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The operator's pod has no more than it needs; that it meets the restricted Pod
// Security Standard says less.
func TestPodIsHardened(t *testing.T) {
	pod := operatorPod(t, namespace)
	if of := pod.Spec.SecurityContext; of == nil || of.RunAsNonRoot == nil || !*of.RunAsNonRoot || of.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context of the pod: %v", of)
	}
	if pod.Spec.HostNetwork || pod.Spec.HostPID || pod.Spec.HostIPC || len(pod.Spec.Volumes) > 0 {
		t.Errorf("the pod shares something with its node: %v", pod.Spec)
	}
	for _, c := range pod.Spec.Containers {
		of := c.SecurityContext
		if of == nil || of.ReadOnlyRootFilesystem == nil || !*of.ReadOnlyRootFilesystem || of.AllowPrivilegeEscalation == nil || *of.AllowPrivilegeEscalation ||
			len(of.Capabilities.Drop) != 1 || of.Capabilities.Drop[0] != "ALL" || len(of.Capabilities.Add) > 0 {
			t.Errorf("security context of container %s: %v", c.Name, of)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("resources of container %s: %v", c.Name, c.Resources)
		}
	}
}

// Two replicas do not go at once: neither with a node or a zone, nor by a drain.
func TestReplicasAreApart(t *testing.T) {
	pod := operatorPod(t, namespace)
	over := map[string]bool{}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		over[c.TopologyKey] = c.MaxSkew == 1 && selects(t, c.LabelSelector, pod.Labels)
	}
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		if !over[key] {
			t.Errorf("replicas are not spread over %s", key)
		}
	}
	var budget policyv1.PodDisruptionBudget
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(find(t, render(t), "PodDisruptionBudget", release), &budget))
	if !selects(t, budget.Spec.Selector, pod.Labels) || budget.Spec.MaxUnavailable.IntVal != 1 {
		t.Errorf("disruption budget: %v", budget.Spec)
	}
}
