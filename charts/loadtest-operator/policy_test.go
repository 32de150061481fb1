package chart_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
)

// policy is the chart's, with those values beside.
func policy(t *testing.T, set string) networkingv1.NetworkPolicy {
	t.Helper()
	var p networkingv1.NetworkPolicy
	object := find(t, render(t, "--set", "networkPolicy.enabled=true"+set), "NetworkPolicy", release)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNetworkPolicyIsOptional(t *testing.T) {
	for _, object := range render(t) {
		if object.GetKind() == "NetworkPolicy" {
			t.Error("a NetworkPolicy is there without having been asked for")
		}
	}
}

func TestNetworkPolicyAllowsNamedPeers(t *testing.T) {
	for set, want := range map[string]map[string]networkingv1.NetworkPolicyPeer{
		"": {"coordinator": {NamespaceSelector: &metav1.LabelSelector{}}},
		",watchNamespaces={one,two}": {"coordinator": {NamespaceSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{"one", "two"}},
			},
		}}},
		",networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=perf": {
			"coordinator": {NamespaceSelector: &metav1.LabelSelector{}},
			"metrics":     {NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "perf"}}},
		},
	} {
		got := map[string]networkingv1.NetworkPolicyPeer{}
		for _, rule := range policy(t, set).Spec.Ingress {
			if len(rule.From) != 1 || len(rule.Ports) != 1 {
				t.Fatalf("%s: a rule has more than one peer or port, or none: %v", set, rule)
			}
			peer := rule.From[0]
			peer.PodSelector = nil // see below
			got[rule.Ports[0].Port.StrVal] = peer
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: allowed peers by port (-want +got):\n%s", set, diff)
		}
	}
}

// The policy is about the operator's pod and its ports, and knows workers by a
// label that they have.
func TestNetworkPolicySelectsOperatorAndWorkers(t *testing.T) {
	p := policy(t, ",networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus")
	pod := operatorPod(t, namespace)
	if !selects(t, &p.Spec.PodSelector, pod.Labels) {
		t.Errorf("the policy is not about the operator's pod: %v", p.Spec.PodSelector)
	}
	ports := map[string]bool{}
	for _, port := range pod.Spec.Containers[0].Ports {
		ports[port.Name] = true
	}
	for _, rule := range p.Spec.Ingress {
		if name := rule.Ports[0].Port.StrVal; !ports[name] {
			t.Errorf("the operator has no port %q", name)
		}
	}
	job := desired.Job(&v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "run", Namespace: "team"}}, desired.Config{})
	if worker := p.Spec.Ingress[0].From[0].PodSelector; !selects(t, worker, job.Spec.Template.Labels) {
		t.Errorf("workers, labelled %v, are not let in: %v", job.Spec.Template.Labels, worker)
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(of))
}
