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

// Two replicas do not go at once: neither with a node or a zone, nor by a drain. The scheduler
// ignores all constraints on nodes that lack the label of any: there must be the one of nodes alone.
func TestReplicasAreApart(t *testing.T) {
	pod := operatorPod(t, namespace)
	over := pod.Spec.TopologySpreadConstraints
	if len(over) != 1 || over[0].TopologyKey != corev1.LabelHostname || over[0].MaxSkew != 1 || !selects(t, over[0].LabelSelector, pod.Labels) {
		t.Errorf("replicas are spread by %v, want over nodes alone", over)
	}
	zones := pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(zones) != 1 || zones[0].PodAffinityTerm.TopologyKey != corev1.LabelTopologyZone || !selects(t, zones[0].PodAffinityTerm.LabelSelector, pod.Labels) {
		t.Errorf("replicas prefer %v, want other zones", zones)
	}
	var budget policyv1.PodDisruptionBudget
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(find(t, render(t), "PodDisruptionBudget", release), &budget))
	if !selects(t, budget.Spec.Selector, pod.Labels) || budget.Spec.MaxUnavailable.IntVal != 1 {
		t.Errorf("disruption budget: %v", budget.Spec)
	}
}
