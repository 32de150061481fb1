package chart_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// networkPolicy is the chart's, with those values beside.
func networkPolicy(t *testing.T, set string) networkingv1.NetworkPolicy {
	t.Helper()
	var p networkingv1.NetworkPolicy
	object := find(t, render(t, "--set", "replicas=2"+set), "NetworkPolicy", release)
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object, &p))
	return p
}

func TestPoliciesAreOptional(t *testing.T) {
	for value, without := range map[string]string{
		"networkPolicy.enabled": "NetworkPolicy ", "operatorPolicy.enabled": "-writes;", "schedulePolicy.enabled": "-schedules;", "targetPolicy.enabled": "-targets;",
	} {
		for set, there := range map[string]bool{"true": true, "false": false} {
			same.As(t, value+"="+set, there, slices.ContainsFunc(render(t, "--set", value+"="+set), func(o unstructured.Unstructured) bool {
				return strings.HasSuffix(o.GetKind(), "Policy") && strings.Contains(o.GetKind()+" "+o.GetName()+";", without)
			}))
		}
	}
}

func TestNetworkPolicyAllowsNamedPeers(t *testing.T) {
	for set, want := range map[string]map[string]networkingv1.NetworkPolicyPeer{
		"":                      {"coordinator": {NamespaceSelector: &metav1.LabelSelector{}}, "metrics": {}},
		",metrics.secure=false": {"coordinator": {NamespaceSelector: &metav1.LabelSelector{}}},
		",metrics.secure=false,watchNamespaces={one,two}": {"coordinator": {NamespaceSelector: &metav1.LabelSelector{
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
		for _, rule := range networkPolicy(t, set).Spec.Ingress {
			if len(rule.From) > 1 || len(rule.Ports) != 1 {
				t.Fatalf("%s: a rule has more than one peer, or not one port: %v", set, rule)
			}
			var peer networkingv1.NetworkPolicyPeer // of all, if there is none
			if len(rule.From) > 0 {
				peer = rule.From[0]
			}
			peer.PodSelector = nil // see below
			got[rule.Ports[0].Port.StrVal] = peer
		}
		same.As(t, set+": allowed peers by port", want, got)
	}
}

// The policy is about the operator's pod and its ports, and knows workers by a
// label that they have.
func TestNetworkPolicySelectsOperatorAndWorkers(t *testing.T) {
	p := networkPolicy(t, ",networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus")
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
	job := desired.Job(&v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "run", Namespace: "team"}}, desired.Config{})
	if worker := p.Spec.Ingress[0].From[0].PodSelector; !selects(t, worker, job.Spec.Template.Labels) {
		t.Errorf("workers, labelled %v, are not let in: %v", job.Spec.Template.Labels, worker)
	}
}

// The policy of workers is about them, and leads to the operator's pod at its port.
func TestWorkersReachOnlyWhatIsNamed(t *testing.T) {
	const on = "networkPolicy.workers.enabled=true"
	_, err := helm(t, release, "--set", on)
	must.Say(t, err, "watchNamespaces must name")
	objects := render(t, "--set", on+",watchNamespaces={team-a,team-b}")
	for _, object := range objects {
		if object.GetName() != release+"-workers" {
			continue
		}
		var p networkingv1.NetworkPolicy
		must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &p))
		job := desired.Job(&v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "run", Namespace: p.Namespace}}, desired.Config{})
		if !selects(t, &p.Spec.PodSelector, job.Spec.Template.Labels) {
			t.Errorf("%s: the policy is not about workers: %v", p.Namespace, p.Spec.PodSelector)
		}
		if want := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}; !slices.Equal(p.Spec.PolicyTypes, want) || p.Spec.Ingress != nil {
			t.Errorf("%s: types %v, want %v without a rule for ingress", p.Namespace, p.Spec.PolicyTypes, want)
		}
		coordinator, dns, targets := p.Spec.Egress[0], p.Spec.Egress[1], p.Spec.Egress[2]
		pod := operatorPod(t, namespace)
		if to := coordinator.To[0]; !selects(t, to.PodSelector, pod.Labels) || !selects(t, to.NamespaceSelector, map[string]string{corev1.LabelMetadataName: namespace}) ||
			coordinator.Ports[0].Port.IntVal != pod.Spec.Containers[0].Ports[0].ContainerPort {
			t.Errorf("%s: workers do not reach the coordinator: %v", p.Namespace, coordinator)
		}
		if len(dns.To) != 1 || len(dns.Ports) != 2 || dns.Ports[0].Port.IntVal != 53 {
			t.Errorf("%s: workers resolve names by %v", p.Namespace, dns)
		}
		if diff := cmp.Diff([]networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}, targets.To); diff != "" || len(p.Spec.Egress) != 3 {
			t.Errorf("%s: targets (-want +got):\n%s", p.Namespace, diff)
		}
	}
	if !has(objects, "NetworkPolicy "+release+"-workers") {
		t.Error("there is no policy of workers")
	}
	named := render(t, "--set", on+",watchNamespaces={team-a},networkPolicy.workers.targets[0].ipBlock.cidr=192.0.2.0/24")
	rules := list(t, find(t, named, "NetworkPolicy", release+"-workers"), "spec", "egress")
	same.As[any](t, "named targets", []any{map[string]any{"ipBlock": map[string]any{"cidr": "192.0.2.0/24"}}}, rules[2].(map[string]any)["to"])
}

func selects(t *testing.T, selector *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	must.Succeed(t, err)
	return s.Matches(labels.Set(of))
}
