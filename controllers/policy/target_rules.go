package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/address"
	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Targets are where the LoadTests of one namespace may send load to.
type Targets struct {
	namespace, domain string
	rules             []rule
	never             []netip.Prefix
	// everything allows whatever there is, and nothing is known as long as unread.
	everything, unread bool
}

// rule is a rule of the configuration, read.
type rule struct {
	hosts   []string // in normal form
	cidrs   []netip.Prefix
	ports   []ports
	proxies bool
}

// ports are those from first to last.
type ports struct{ first, last uint16 }

func (p *Policy) targets(namespace string) Targets {
	t := Targets{namespace: namespace, domain: domainOf(p.config.Targets), unread: p.badConfig != nil}
	t.never, _ = prefixes("", p.config.Targets.Never) // New has checked them
	for i, r := range p.config.Targets.Rules {
		// New has refused a rule with an error. Should one be here, it allows nothing.
		if read, err := newRule(i, r); err == nil && selects(r.Namespaces, namespace) {
			t.rules = append(t.rules, read)
		}
	}
	return t
}

// defaultDomain is that of most clusters.
const defaultDomain = "cluster.local"

func domainOf(t config.Targets) string {
	return NormalHost(cmp.Or(t.ClusterDomain, defaultDomain))
}

// Everything are rules that allow what a person may do on a machine of their own.
func Everything() Rules {
	return Rules{Targets: Targets{everything: true}, Workers: Workers{all: true}, Queries: Queries{all: true}}
}

const (
	// maxRules and maxRanges bound what stands in the status of a run.
	maxRules, maxRanges = 64, 256
)

func checkTargets(t config.Targets) error {
	if t.ClusterDomain != "" && !hostPattern.MatchString(NormalHost(t.ClusterDomain)) {
		return fmt.Errorf("targets.clusterDomain: %q must be a domain, such as cluster.local", t.ClusterDomain)
	}
	if _, err := prefixes("targets.never", t.Never); err != nil {
		return err
	}
	if len(t.Rules) > maxRules {
		return fmt.Errorf("targets.rules: has %d rules; at most %d are allowed", len(t.Rules), maxRules)
	}
	ranges := 0
	for i, r := range t.Rules {
		if _, err := newRule(i, r); err != nil {
			return err
		}
		if ranges += len(r.CIDRs); ranges > maxRanges {
			return fmt.Errorf("targets.rules[%d].cidrs: the rules together have more than %d ranges", i, maxRanges)
		}
	}
	return nil
}

// newRule reads a rule, or says what is wrong with it.
func newRule(i int, c config.TargetRule) (r rule, err error) {
	field := func(name string) string { return fmt.Sprintf("targets.rules[%d].%s", i, name) }
	r.proxies = c.Proxies
	for _, pattern := range c.Hosts {
		host := NormalHost(pattern)
		if _, err := parsePrefix(host); err == nil {
			return r, fmt.Errorf("%s: %q is an address; put it into cidrs", field("hosts"), pattern)
		}
		if pattern != "*" && !hostPattern.MatchString(strings.TrimPrefix(host, "*.")) {
			return r, fmt.Errorf("%s: %q must be a host, *.domain or *", field("hosts"), pattern)
		}
		r.hosts = append(r.hosts, host)
	}
	if len(c.Hosts)+len(c.CIDRs) == 0 {
		return r, fmt.Errorf("targets.rules[%d]: must have hosts or cidrs; for all, set hosts: [\"*\"]", i)
	}
	if r.cidrs, err = prefixes(field("cidrs"), c.CIDRs); err != nil {
		return r, err
	}
	for _, text := range c.Ports {
		p, ok := parsePorts(text)
		if !ok {
			return r, fmt.Errorf("%s: %q must be a port or a range of them, such as 443 or 8000-8999", field("ports"), text)
		}
		r.ports = append(r.ports, p)
	}
	return r, nil
}

func prefixes(field string, list []string) (out []netip.Prefix, err error) {
	for _, text := range list {
		p, err := parsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q must be a range of addresses, such as 10.20.0.0/16 or 10.20.0.7", field, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// parsePrefix reads a range, or an address. Those of IPv4 that are spelled as IPv6, also as
// NAT64 does, are of IPv4, as an address is that is compared with them.
func parsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return only(a), nil
	}
	p, err := netip.ParsePrefix(text)
	if a := address.Plain(p.Addr()); err == nil && a.Is4() && !p.Addr().Is4() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a, p.Bits()-96)
	}
	return p.Masked(), err
}

// only is the range of one address.
func only(a netip.Addr) netip.Prefix {
	a = address.Plain(a)
	return netip.PrefixFrom(a, a.BitLen())
}

func parsePorts(text string) (p ports, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.ParseUint(first, 10, 16)
	b, err2 := strconv.ParseUint(last, 10, 16)
	return ports{uint16(a), uint16(b)}, err == nil && err2 == nil && a > 0 && a <= b
}

var (
	// hostPattern is a DNS name of one or more labels.
	hostPattern = regexp.MustCompile(`^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$`)
	// servicePattern is a Service's name: a DNS label that begins with a letter,
	// which keeps out the numeric spellings of IPv4 addresses, such as 2130706433.
	servicePattern = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

// IsHost says whether a host, in normal form, is a name or an address.
func IsHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" || hostPattern.MatchString(host)
}

// NormalHost is a host as it is compared: lower case, without the final dot of
// a fully qualified name.
func NormalHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// isAt says whether the rule is about a port.
func (r rule) isAt(port uint16) bool {
	return len(r.ports) == 0 || slices.ContainsFunc(r.ports, func(p ports) bool { return p.first <= port && port <= p.last })
}

// names says whether the rule has a host, by its name or as all hosts.
func (r rule) names(host string) (named, all bool) {
	for _, pattern := range r.hosts {
		domain, below := strings.CutPrefix(pattern, "*.")
		named = named || pattern == host || below && strings.HasSuffix(host, "."+domain)
		all = all || pattern == "*"
	}
	return named, all
}

// has says whether the rule has all of these addresses as its own.
func (r rule) has(list ...netip.Addr) bool {
	return !slices.ContainsFunc(list, func(a netip.Addr) bool {
		a = address.Plain(a)
		return !slices.ContainsFunc(r.cidrs, func(p netip.Prefix) bool { return p.Contains(a) })
	})
}
