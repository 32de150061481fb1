package enforcer

import (
	"encoding/json"
	"net/netip"
	"slices"
)

// direction is of a policy: into its pods, or out of them.
type direction string

const (
	ingress direction = "Ingress"
	egress  direction = "Egress"
)

// contents are what the cluster has.
type contents struct {
	policies   []policy
	pods       []pod
	namespaces []namespace
}

type metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

type namespace struct {
	Metadata metadata `json:"metadata"`
}

// pod has the fields of a Pod that matter here.
type pod struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		HostNetwork bool        `json:"hostNetwork"`
		Containers  []container `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
}

type container struct {
	Ports []struct {
		Name          string `json:"name"`
		ContainerPort int    `json:"containerPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
}

// address is the pod's own, and false for one without: it is not of IPv4, not
// there yet, the host's, or another's by now.
func (p pod) address() (netip.Addr, bool) {
	address, err := netip.ParseAddr(p.Status.PodIP)
	over := p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
	return address, err == nil && address.Is4() && !over && !p.Spec.HostNetwork
}

// policy has the fields of a NetworkPolicy.
type policy struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		PodSelector selector    `json:"podSelector"`
		PolicyTypes []direction `json:"policyTypes"`
		Ingress     []rule      `json:"ingress"`
		Egress      []rule      `json:"egress"`
	} `json:"spec"`
}

// governs says whether the policy has a say in what goes in or out of the pod.
func (p policy) governs(d direction, of pod) bool {
	return p.Metadata.Namespace == of.Metadata.Namespace &&
		slices.Contains(p.Spec.PolicyTypes, d) &&
		p.Spec.PodSelector.selects(of.Metadata.Labels)
}

func (p policy) rules(d direction) []rule {
	if d == ingress {
		return p.Spec.Ingress
	}
	return p.Spec.Egress
}

// rule lets peers through at ports; without any of the one or the other, all.
type rule struct {
	From  []peer `json:"from"`
	To    []peer `json:"to"`
	Ports []port `json:"ports"`
}

// peers are in one of the fields: the other is not of the rule's direction.
func (r rule) peers() []peer { return append(r.From, r.To...) }

type peer struct {
	PodSelector       *selector `json:"podSelector"`
	NamespaceSelector *selector `json:"namespaceSelector"`
	IPBlock           *ipBlock  `json:"ipBlock"`
}

type ipBlock struct {
	CIDR   string   `json:"cidr"`
	Except []string `json:"except"`
}

type port struct {
	Protocol string      `json:"protocol"`
	Port     *nameOrPort `json:"port"`
	EndPort  int         `json:"endPort"`
}

// nameOrPort is the name of a container's port, or a number.
type nameOrPort struct {
	name   string
	number int
}

// UnmarshalJSON reads either.
func (p *nameOrPort) UnmarshalJSON(content []byte) error {
	if len(content) > 0 && content[0] == '"' {
		return json.Unmarshal(content, &p.name)
	}
	return json.Unmarshal(content, &p.number)
}
