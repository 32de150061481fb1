package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/address"
)

// Facts are what was read of a place.
type Facts struct {
	// Service is that of the place; nil: it is not there, or the place is none.
	Service *Service
	// AcceptsLoad says that the Service's namespace has the label by which it does.
	AcceptsLoad bool
	// Never are the addresses of nodes, of the API server and of the operator.
	Never []netip.Addr
	// Unreadable says why something of it may not be read; empty: all was.
	Unreadable string
}

// UID is that of the Service; empty: it is not there.
func (f Facts) UID() string {
	if f.Service == nil {
		return ""
	}
	return f.Service.UID
}

// Service is a Service of the cluster.
type Service struct {
	// UID is that of the object: another Service of the name has another.
	UID string
	// Type is as in its spec, and HasSelector whether that has one.
	Type        string
	HasSelector bool
	// Addresses are its own; none: it is headless.
	Addresses []netip.Addr
	Ports     []Port
	Endpoints []Endpoint
	// Pods are those that it selects, by name.
	Pods map[string]Pod
	// TooMany says that it has more endpoints or pods than are read.
	TooMany bool
}

// Port is a port of a Service.
type Port struct {
	Number int32
	Name   string
}

// Endpoint is an address to which a Service sends.
type Endpoint struct {
	// Slice is the EndpointSlice that has it.
	Slice, Address string
	// Kind, Namespace and Name are what the address is said to be of.
	Kind, Namespace, Name string
}

// Pod is what its kubelet says of a pod.
type Pod struct {
	Addresses []string
	// OnHost says that its addresses are those of its node.
	OnHost bool
	// OfOperator says that it is the operator's.
	OfOperator bool
}

// Judgement is whether a place may be a target, and where connections to it go to.
type Judgement struct {
	// Refusal is why it may not, and Problem why that is not known yet: both a sentence,
	// without the field. Empty, both: it may.
	Refusal, Problem string
	// Allowed are where connections may go to. Pods says that they are pods, which change.
	Allowed []address.Destination
	Pods    bool
	// UID is the Service's; empty: the place is none.
	UID string
	// Denied are never connected to, whatever Allowed says.
	Denied []netip.Prefix
}

// Judge decides on a place by what was read of it.
func (t Targets) Judge(p Place, f Facts) Judgement {
	if t.unread {
		return Judgement{Problem: "The operator cannot read its configuration, which says what is allowed."}
	}
	if why := t.Refusal(p); why != "" {
		return Judgement{Refusal: why + "."}
	}
	if f.Unreadable != "" {
		return Judgement{Problem: f.Unreadable}
	}
	if p.IsService() {
		return t.judgeService(p, f)
	}
	return t.judgeHost(p, f)
}

// judgeHost is about a host that is no Service: which of its addresses the rules allow.
func (t Targets) judgeHost(p Place, f Facts) Judgement {
	j := Judgement{Denied: slices.Clone(t.never)}
	for _, a := range f.Never {
		j.Denied = append(j.Denied, only(a))
	}
	if a, err := netip.ParseAddr(p.Host); err == nil {
		if within(a, j.Denied) {
			return Judgement{Refusal: fmt.Sprintf("address %s belongs to a node, the API server, the operator or a range that the administrator excludes; it can never be a target.", p.Host)}
		}
		j.Allowed = []address.Destination{{Range: only(a), Port: p.Port}}
		return j
	}
	for _, r := range t.rulesFor(p) {
		if len(r.hosts) > 0 {
			j.allow(address.Destination{Port: p.Port})
		}
		for _, c := range r.cidrs {
			j.allow(address.Destination{Range: c, Port: p.Port})
		}
	}
	return j
}

func (j *Judgement) allow(d address.Destination) {
	if !slices.Contains(j.Allowed, d) {
		j.Allowed = append(j.Allowed, d)
	}
}

func (t Targets) judgeService(p Place, f Facts) Judgement {
	s := f.Service
	if refusal := t.MayReach(p, f); refusal != "" {
		return Judgement{Refusal: refusal}
	}
	if s == nil {
		return Judgement{Problem: fmt.Sprintf("Service %s does not exist.", t.called(p))}
	}
	for _, refusal := range []string{t.kindRefusal(p, s), t.endpointRefusal(p, s)} {
		if refusal != "" {
			return Judgement{Refusal: refusal}
		}
	}
	if s.TooMany {
		return Judgement{Refusal: fmt.Sprintf("Service %s has more endpoints or pods than the operator checks.", t.called(p))}
	}
	j := Judgement{UID: s.UID, Denied: slices.Clone(t.never)}
	for _, a := range s.Addresses {
		if within(a, t.never) || address.SpecialKind(a) != "" {
			return Judgement{Refusal: fmt.Sprintf("address %s of Service %s can never be a target.", a, t.called(p))}
		}
		j.allow(address.Destination{Range: only(a), Port: p.Port})
	}
	if len(s.Addresses) > 0 {
		j.Problem = t.portProblem(p, s)
		return j
	}
	j.Pods = true
	for _, e := range s.Endpoints {
		if a, err := netip.ParseAddr(e.Address); err == nil && slices.Contains(s.Pods[e.Name].Addresses, e.Address) {
			j.allow(address.Destination{Range: only(a), Port: p.Port})
		}
	}
	return j
}

// MayReach says why a LoadTest of the namespace may not send load to a Service; empty: it may.
// It says the same of a Service that does not exist: who may not send load to a namespace does
// not learn which Services it has.
func (t Targets) MayReach(p Place, f Facts) string {
	if !p.IsProxy && (p.Namespace == t.namespace || f.AcceptsLoad) {
		return ""
	}
	for _, r := range t.rulesFor(p) {
		named, _ := r.names(strings.TrimSuffix(p.Name, "."))
		short, _ := r.names(p.Host)
		if named || short || f.Service != nil && len(f.Service.Addresses) > 0 && r.has(f.Service.Addresses...) {
			return ""
		}
	}
	if p.IsProxy {
		return fmt.Sprintf("Service %s is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration.", t.called(p))
	}
	return fmt.Sprintf("Service %s does not exist, or its namespace does not accept load from others; ask its owner to label namespace %s with loadtest.dev/accepts-load=true.", t.called(p), p.Namespace)
}

// kindRefusal refuses Services of which the addresses are written by hand, and are no pods'.
func (t Targets) kindRefusal(p Place, s *Service) string {
	switch {
	case s.Type == "ExternalName":
		return fmt.Sprintf("Service %s is of type ExternalName, which can lead to any host; ask the administrator to allow the host, and set url to it.", t.called(p))
	case !s.HasSelector:
		return fmt.Sprintf("Service %s has no spec.selector, so its addresses do not belong to pods; give it the selector of the pods under test.", t.called(p))
	}
	return ""
}

// endpointRefusal refuses a Service that sends to anything but the pods that it selects.
// A pod that is not there may have been replaced a moment ago.
func (t Targets) endpointRefusal(p Place, s *Service) string {
	for _, e := range s.Endpoints {
		sends := fmt.Sprintf("EndpointSlice %s of Service %s sends to %s, ", e.Slice, t.called(p), e.Address)
		a, err := netip.ParseAddr(e.Address)
		pod, known := s.Pods[e.Name]
		switch {
		case err != nil || e.Kind != "Pod" || e.Namespace != p.Namespace || e.Name == "":
			return sends + "which is not a pod; remove the EndpointSlice."
		case address.SpecialKind(a) != "":
			return fmt.Sprintf("%swhich is %s address; it can never be a target.", sends, address.SpecialKind(a))
		case within(a, t.never):
			return sends + "which is in a range that the administrator excludes."
		case known && pod.OnHost:
			return fmt.Sprintf("%sthe address of the node of pod %s, which is on the host's network; a node can never be a target.", sends, e.Name)
		case known && pod.OfOperator:
			return sends + "a pod of the operator, which can never be a target."
		}
	}
	return ""
}

// Unconfirmed are the endpoints that are not of a pod as far as its kubelet says. A Service that rolls
// has such endpoints for a moment.
func (f Facts) Unconfirmed() (list []Endpoint) {
	if f.Service == nil {
		return nil
	}
	for _, e := range f.Service.Endpoints {
		if pod, ok := f.Service.Pods[e.Name]; !ok || !slices.Contains(pod.Addresses, e.Address) {
			list = append(list, e)
		}
	}
	return list
}

// Doubt says of an endpoint that it is not confirmed, as a sentence.
func (t Targets) Doubt(p Place, e Endpoint) string {
	return fmt.Sprintf("EndpointSlice %s of Service %s sends to %s, an address that no selected pod named %s has; remove the EndpointSlice.", e.Slice, t.called(p), e.Address, e.Name)
}

// portProblem is that a Service has no such port, which it may get.
func (t Targets) portProblem(p Place, s *Service) string {
	var names []string
	for _, port := range s.Ports {
		if port.Number == int32(p.Port) {
			return ""
		}
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", port.Number, port.Name)))
	}
	return fmt.Sprintf("Service %s has no port %d; its ports: %s.", t.called(p), p.Port, strings.Join(names, ", "))
}

// Gone says why a Service is not the one that was allowed any more, as a sentence; empty: it is.
// found and allowed are the UIDs of what is there now, empty if nothing is, and of that one.
func (t Targets) Gone(p Place, found, allowed string) string {
	switch found {
	case allowed:
		return ""
	case "":
		return fmt.Sprintf("Service %s was deleted while the run went on.", t.called(p))
	}
	return fmt.Sprintf("Service %s was replaced by another of its name while the run went on.", t.called(p))
}

// called is how a Service is called in a sentence.
func (t Targets) called(p Place) string {
	if p.Namespace == t.namespace {
		return p.Service
	}
	return p.Service + " of namespace " + p.Namespace
}

func within(a netip.Addr, list []netip.Prefix) bool {
	a = address.Plain(a)
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}
