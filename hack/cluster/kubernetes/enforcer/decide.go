package enforcer

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// state is what the cluster has.
type state struct {
	policies   []*networkingv1.NetworkPolicy
	pods       []*corev1.Pod
	namespaces []*corev1.Namespace
}

// chain is what may pass in one direction of an isolated pod.
type chain struct {
	direction networkingv1.PolicyType
	of        netip.Addr
	allowed   []match
}

// match lets packets through by the other side's address and by the port.
type match struct {
	// any is every address; otherwise it is one of the addresses, or one in
	// the block and in none of the exceptions.
	any       bool
	addresses []netip.Addr
	block     netip.Prefix
	except    []netip.Prefix
	// port is nil for all ports of all protocols.
	port *ports
}

// ports are one or a range of a protocol; the range of all is from 0.
type ports struct {
	protocol    corev1.Protocol
	first, last int32
}

const lastPort = 65535

// decide makes the chains, in the order of the addresses.
func decide(now state) []chain {
	var all []chain
	for _, pod := range now.pods {
		address, ok := addressOf(pod)
		if !ok {
			continue
		}
		for _, direction := range []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress} {
			if allowed, isolated := now.allowed(direction, pod); isolated {
				all = append(all, chain{direction: direction, of: address, allowed: allowed})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b chain) int {
		return cmp.Or(a.of.Compare(b.of), cmp.Compare(a.direction, b.direction))
	})
	// For a moment two pods have the same address, when a new pod gets that of
	// one that has ended; nft refuses a map with two chains for one address.
	return slices.CompactFunc(all, func(a, b chain) bool { return a.of == b.of && a.direction == b.direction })
}

// addressOf is the pod's own address. It is false for a pod that has none yet,
// that has ended, that uses the host's, or whose address is not of IPv4.
func addressOf(pod *corev1.Pod) (netip.Addr, bool) {
	address, err := netip.ParseAddr(pod.Status.PodIP)
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return address, err == nil && address.Is4() && !ended && !pod.Spec.HostNetwork
}

// allowed is what all policies together let through. The pod is isolated if
// there is such a policy.
func (s state) allowed(direction networkingv1.PolicyType, pod *corev1.Pod) (all []match, isolated bool) {
	for _, policy := range s.policies {
		if policy.Namespace != pod.Namespace ||
			!slices.Contains(policy.Spec.PolicyTypes, direction) ||
			!selects(&policy.Spec.PodSelector, pod.Labels) {
			continue
		}
		isolated = true
		for _, r := range rules(policy, direction) {
			all = append(all, s.matches(direction, policy.Namespace, r, pod)...)
		}
	}
	return all, isolated
}

// selects is false for a selector with an unknown operator, so that a mistake
// allows nothing.
func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}

// rule lets peers through at ports. An empty list allows all of its kind.
type rule struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func rules(policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) []rule {
	var all []rule
	if direction == networkingv1.PolicyTypeIngress {
		for _, r := range policy.Spec.Ingress {
			all = append(all, rule{r.From, r.Ports})
		}
		return all
	}
	for _, r := range policy.Spec.Egress {
		all = append(all, rule{r.To, r.Ports})
	}
	return all
}

// matches are those of one rule. A port's name refers to the pod that accepts
// the connection, so that each peer of egress may have another number.
func (s state) matches(direction networkingv1.PolicyType, namespace string, r rule, pod *corev1.Pod) []match {
	peers := s.selected(namespace, r.peers)
	sources := sides(r.peers, peers)
	if len(r.ports) == 0 {
		return sources
	}
	open := numbered(r.ports)
	if direction == networkingv1.PolicyTypeIngress {
		open = append(open, named(r.ports, pod)...)
	}
	all := product(sources, open)
	if direction == networkingv1.PolicyTypeEgress {
		for _, peer := range peers {
			address, _ := addressOf(peer)
			all = append(all, product([]match{{addresses: []netip.Addr{address}}}, named(r.ports, peer))...)
		}
	}
	return all
}

// sides are the other sides that the peers allow; selected are the peers' pods.
// Peers that select no pod allow nothing.
func sides(peers []networkingv1.NetworkPolicyPeer, selected []*corev1.Pod) []match {
	if len(peers) == 0 {
		return []match{{any: true}}
	}
	var all []match
	if len(selected) > 0 {
		var addresses []netip.Addr
		for _, pod := range selected {
			address, _ := addressOf(pod)
			addresses = append(addresses, address)
		}
		slices.SortFunc(addresses, netip.Addr.Compare)
		all = append(all, match{addresses: slices.Compact(addresses)})
	}
	for _, peer := range peers {
		if m, ok := blockOf(peer.IPBlock); ok {
			all = append(all, m)
		}
	}
	return all
}

// blockOf is false for a block that is not of IPv4: no pod has such an address.
func blockOf(b *networkingv1.IPBlock) (m match, ok bool) {
	if b == nil {
		return m, false
	}
	block, err := netip.ParsePrefix(b.CIDR)
	if err != nil || !block.Addr().Is4() {
		return m, false
	}
	m.block = block.Masked()
	for _, text := range b.Except {
		if except, err := netip.ParsePrefix(text); err == nil {
			m.except = append(m.except, except.Masked())
		}
	}
	return m, true
}

// selected are the pods that the peers of a policy in that namespace select. No
// peer at all selects every pod.
func (s state) selected(namespace string, peers []networkingv1.NetworkPolicyPeer) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range s.pods {
		if _, ok := addressOf(pod); !ok {
			continue
		}
		chosen := func(peer networkingv1.NetworkPolicyPeer) bool { return s.selectedBy(peer, namespace, pod) }
		if len(peers) == 0 || slices.ContainsFunc(peers, chosen) {
			all = append(all, pod)
		}
	}
	return all
}

func (s state) selectedBy(peer networkingv1.NetworkPolicyPeer, namespace string, pod *corev1.Pod) bool {
	switch {
	case peer.IPBlock != nil:
		return false
	case peer.NamespaceSelector == nil && pod.Namespace != namespace:
		return false
	case peer.NamespaceSelector != nil && !selects(peer.NamespaceSelector, s.namespaceLabels(pod.Namespace)):
		return false
	}
	return peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)
}

func (s state) namespaceLabels(namespace string) labels.Set {
	for _, n := range s.namespaces {
		if n.Name == namespace {
			return n.Labels
		}
	}
	return nil
}

// product is every side at every port.
func product(sides []match, open []ports) []match {
	var all []match
	for _, side := range sides {
		for _, at := range open {
			side.port = &at
			all = append(all, side)
		}
	}
	return all
}

// numbered are the ports with a number, and those of a whole protocol.
func numbered(all []networkingv1.NetworkPolicyPort) []ports {
	var open []ports
	for _, p := range all {
		switch {
		case p.Port == nil:
			open = append(open, ports{protocolOf(p), 0, lastPort})
		case p.Port.Type == intstr.Int:
			open = append(open, ports{protocolOf(p), p.Port.IntVal, max(p.Port.IntVal, ptr.Deref(p.EndPort, 0))})
		}
	}
	return open
}

func protocolOf(p networkingv1.NetworkPolicyPort) corev1.Protocol {
	return ptr.Deref(p.Protocol, corev1.ProtocolTCP)
}

// named are the pod's ports with one of the names.
func named(all []networkingv1.NetworkPolicyPort, pod *corev1.Pod) []ports {
	var open []ports
	for _, p := range all {
		if p.Port == nil || p.Port.Type != intstr.String {
			continue
		}
		for _, container := range pod.Spec.Containers {
			for _, own := range container.Ports {
				if own.Name == p.Port.StrVal && own.Protocol == protocolOf(p) {
					open = append(open, ports{protocolOf(p), own.ContainerPort, own.ContainerPort})
				}
			}
		}
	}
	return open
}
