package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/address"
)

// Place is what a URL of a target, or of its proxy, leads to by its spelling.
type Place struct {
	// Host is in normal form: a name or an address.
	Host string
	Port uint16
	// Service and Namespace are those of a Service of the cluster. Empty: it is none.
	Service, Namespace string
	// Name is the absolute name of Host, which no search domain completes. Empty: Host is
	// an address.
	Name string
	// IsProxy says that the place is the proxy of a target.
	IsProxy bool
}

// IsService says whether the place is a Service of the cluster.
func (p Place) IsService() bool { return p.Service != "" }

// Place is where a URL leads to. A name of one label is a Service of the LoadTest's own
// namespace, whatever the search domains of nodes make of it.
func (t Targets) Place(u *url.URL) Place {
	p := Place{Host: NormalHost(u.Hostname()), Port: portOf(u)}
	if _, err := netip.ParseAddr(p.Host); err == nil {
		return p
	}
	p.Name = p.Host + "."
	domain := cmp.Or(t.domain, defaultDomain)
	inCluster := strings.TrimSuffix(p.Host, "."+domain)
	name, ok := strings.CutSuffix(inCluster, ".svc")
	switch labels := strings.Split(name, "."); {
	case servicePattern.MatchString(p.Host) && p.Host != "localhost":
		p.Service, p.Namespace = p.Host, t.namespace
		p.Name = fmt.Sprintf("%s.%s.svc.%s.", p.Service, p.Namespace, domain)
	case ok && (len(labels) == 2 || len(labels) == 3): // with three, that of a pod
		p.Service, p.Namespace = labels[len(labels)-2], labels[len(labels)-1]
		p.Name = fmt.Sprintf("%s.svc.%s.", name, domain)
	}
	return p
}

func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// Refusal says by the spelling of a place alone why it may not be a target. Empty: it may,
// as far as that says.
func (t Targets) Refusal(p Place) string {
	if t.everything {
		return ""
	}
	if a, err := netip.ParseAddr(p.Host); err == nil {
		if kind := address.SpecialKind(a); kind != "" {
			return fmt.Sprintf("host %s is not allowed: it is %s address, which can never be a target", p.Host, kind)
		}
	}
	if p.isNever() {
		return fmt.Sprintf("host %s is not allowed: it names the worker itself, the API server or a metadata service, which can never be targets", p.Host)
	}
	if p.isAtNode() {
		return fmt.Sprintf("host %s is not allowed at port %d: it belongs to nodes, which can never be targets", p.Host, p.Port)
	}
	if p.IsService() && !p.IsProxy {
		return "" // its namespace decides
	}
	if len(t.rulesFor(p)) > 0 {
		return ""
	}
	if p.IsProxy {
		return fmt.Sprintf("host %s is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration", p.Host)
	}
	return fmt.Sprintf("host %s is not allowed; use a Service of this cluster, or ask the administrator to add %s to targets.rules of the operator's configuration", p.Host, p.Host)
}

// RefusalBehindProxy says why a place may not be a target behind a proxy. Empty: it may.
func (t Targets) RefusalBehindProxy(p Place) string {
	if t.everything || !p.IsService() || p.Host+"." == p.Name {
		return ""
	}
	return fmt.Sprintf("host %s is not allowed behind a proxy, which completes it by search domains of its own; write url with host %s", p.Host, strings.TrimSuffix(p.Name, "."))
}

// RefusalOfHost says why requests to a place may not be for another host, by their header Host or by
// the server name of TLS. Empty: they may. Any number of other hosts may have the same addresses as
// a host that a rule names, as in a content delivery network. A Service and an address are allowed
// with all that is there.
func (t Targets) RefusalOfHost(p Place, host string) string {
	named := Place{Host: NormalHost(host), Port: p.Port}
	if t.everything || p.IsService() || p.Name == "" || named.Host == p.Host {
		return ""
	}
	if slices.ContainsFunc(t.rules, func(r rule) bool {
		_, all := r.names("")
		return r.isAt(p.Port) && (all || IsHost(named.Host) && r.covers(named))
	}) {
		return ""
	}
	return fmt.Sprintf("host %s is not allowed for requests to %s; ask the administrator to add it to targets.rules of the operator's configuration", host, p.Host)
}

// Allows says whether a host may be a target, by its spelling alone.
func (t Targets) Allows(host string) bool {
	return t.Refusal(t.Place(&url.URL{Scheme: "http", Host: host})) == ""
}

// rulesFor are the rules that are about a place, if its addresses are as they say.
func (t Targets) rulesFor(p Place) (list []rule) {
	for _, r := range t.rules {
		if !r.isAt(p.Port) || p.IsProxy && !r.proxies {
			continue
		}
		if r.covers(p) {
			list = append(list, r)
		}
	}
	return list
}

// covers says whether the rule has a place by its host.
func (r rule) covers(p Place) bool {
	if a, err := netip.ParseAddr(p.Host); err == nil {
		_, all := r.names(p.Host)
		return r.has(a) || all && address.IsPublic(a)
	}
	for _, host := range []string{p.Host, strings.TrimSuffix(p.Name, ".")} {
		if named, all := r.names(host); named || all {
			return true
		}
	}
	return false
}
