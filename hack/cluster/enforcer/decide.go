package enforcer

import (
	"cmp"
	"net/netip"
	"slices"
)

// chain is what may pass in one direction of a governed pod.
type chain struct {
	direction direction
	of        netip.Addr
	allowed   []match
}

// match lets packets through by the other side and by the port.
type match struct {
	// any is every other side; otherwise it is one of the addresses, or one
	// in the block and in none of the exceptions.
	any       bool
	addresses []netip.Addr
	block     netip.Prefix
	except    []netip.Prefix
	// port is nil for all ports of all protocols.
	port *ports
}

// ports are one or a range of a protocol; the range of all is from 0.
type ports struct {
	protocol    string
	first, last int
}

const lastPort = 65535

// decide makes the chains, in the order of the addresses.
func decide(c contents) []chain {
	var all []chain
	for _, p := range c.pods {
		address, ok := p.address()
		if !ok {
			continue
		}
		for _, d := range []direction{ingress, egress} {
			if allowed, governed := c.allowed(d, p); governed {
				all = append(all, chain{direction: d, of: address, allowed: allowed})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b chain) int {
		return cmp.Or(a.of.Compare(b.of), cmp.Compare(a.direction, b.direction))
	})
	// Two pods have one address for the moment in which it passes on; nft
	// would refuse to decide between them.
	return slices.CompactFunc(all, func(a, b chain) bool { return a.of == b.of && a.direction == b.direction })
}

// allowed is what all policies together let through, and whether there is one.
func (c contents) allowed(d direction, of pod) (all []match, governed bool) {
	for _, p := range c.policies {
		if !p.governs(d, of) {
			continue
		}
		governed = true
		for _, r := range p.rules(d) {
			all = append(all, c.matches(d, p.Metadata.Namespace, r, of)...)
		}
	}
	return all, governed
}

// matches are those of one rule. A name is that of a port of the pod that
// accepts the connection, so that each peer of egress may have another number.
func (c contents) matches(d direction, namespace string, r rule, of pod) []match {
	pods := c.selected(namespace, r.peers())
	sides := others(r.peers(), pods)
	if len(r.Ports) == 0 {
		return sides
	}
	open := numbered(r.Ports)
	if d == ingress {
		open = append(open, named(r.Ports, of)...)
	}
	all := each(sides, open)
	if d == egress {
		for _, p := range pods {
			address, _ := p.address()
			all = append(all, each([]match{{addresses: []netip.Addr{address}}}, named(r.Ports, p))...)
		}
	}
	return all
}

// others are the other sides that peers stand for, of which the pods are
// selected already. Peers that select no pod allow none.
func others(peers []peer, pods []pod) []match {
	if len(peers) == 0 {
		return []match{{any: true}}
	}
	var all []match
	if len(pods) > 0 {
		var addresses []netip.Addr
		for _, p := range pods {
			address, _ := p.address()
			addresses = append(addresses, address)
		}
		slices.SortFunc(addresses, netip.Addr.Compare)
		all = append(all, match{addresses: slices.Compact(addresses)})
	}
	for _, p := range peers {
		if m, ok := p.IPBlock.match(); ok {
			all = append(all, m)
		}
	}
	return all
}

// match is false of a block that no pod's packet can be of: there is no IPv6.
func (b *ipBlock) match() (m match, ok bool) {
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

// selected are the pods that peers of a policy in that namespace stand for:
// with no peer at all, every one.
func (c contents) selected(namespace string, peers []peer) []pod {
	var all []pod
	for _, p := range c.pods {
		if _, ok := p.address(); !ok {
			continue
		}
		chosen := func(by peer) bool { return c.selects(namespace, by, p) }
		if len(peers) == 0 || slices.ContainsFunc(peers, chosen) {
			all = append(all, p)
		}
	}
	return all
}

func (c contents) selects(namespace string, by peer, p pod) bool {
	switch {
	case by.IPBlock != nil:
		return false
	case by.NamespaceSelector == nil && p.Metadata.Namespace != namespace:
		return false
	case by.NamespaceSelector != nil && !by.NamespaceSelector.selects(c.labels(p.Metadata.Namespace)):
		return false
	}
	return by.PodSelector == nil || by.PodSelector.selects(p.Metadata.Labels)
}

func (c contents) labels(namespace string) map[string]string {
	for _, n := range c.namespaces {
		if n.Metadata.Name == namespace {
			return n.Metadata.Labels
		}
	}
	return nil
}

// each is every side at every port.
func each(sides []match, open []ports) []match {
	var all []match
	for _, side := range sides {
		for _, at := range open {
			side.port = &at
			all = append(all, side)
		}
	}
	return all
}

// numbered are the ports without a name, and those of a whole protocol.
func numbered(all []port) []ports {
	var open []ports
	for _, p := range all {
		switch {
		case p.Port == nil:
			open = append(open, ports{p.Protocol, 0, lastPort})
		case p.Port.name == "":
			open = append(open, ports{p.Protocol, p.Port.number, max(p.Port.number, p.EndPort)})
		}
	}
	return open
}

// named are the ports whose name a port of the pod has.
func named(all []port, of pod) []ports {
	var open []ports
	for _, p := range all {
		if p.Port == nil || p.Port.name == "" {
			continue
		}
		for _, c := range of.Spec.Containers {
			for _, own := range c.Ports {
				if own.Name == p.Port.name && own.Protocol == p.Protocol {
					open = append(open, ports{p.Protocol, own.ContainerPort, own.ContainerPort})
				}
			}
		}
	}
	return open
}
