package policy

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Targets are where the LoadTests of one namespace may send load to.
type Targets struct {
	rules []config.TargetRule
}

func (p *Policy) targets(namespace string) Targets {
	var t Targets
	for _, r := range p.config.Targets.Rules {
		if selects(r.Namespaces, namespace) {
			t.rules = append(t.rules, r)
		}
	}
	return t
}

// Everything are rules that allow what a person may do on a machine of their own.
func Everything() Rules {
	return Rules{Targets: Targets{rules: []config.TargetRule{{Hosts: []string{"*"}}}}, Workers: Workers{all: true}}
}

// WithHosts is the policy that allows these patterns as targets in every namespace.
func WithHosts(patterns []string) (*Policy, error) {
	var c config.OperatorConfiguration
	if len(patterns) > 0 {
		c.Targets.Rules = []config.TargetRule{{Hosts: patterns}}
	}
	return New(c)
}

func checkTargets(t config.Targets) error {
	for i, r := range t.Rules {
		for _, pattern := range r.Hosts {
			if !validPattern(pattern) {
				return fmt.Errorf("targets.rules[%d].hosts: %q must be a host, *.domain, an address, a CIDR range or *", i, pattern)
			}
		}
	}
	return nil
}

var (
	// hostPattern is a DNS name of one or more labels.
	hostPattern = regexp.MustCompile(`^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$`)
	// servicePattern is a Service's name: a DNS label that begins with a letter,
	// which keeps out the numeric spellings of IPv4 addresses, such as 2130706433.
	servicePattern = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

func validPattern(pattern string) bool {
	if pattern == "*" {
		return true
	}
	pattern = NormalHost(pattern)
	if _, err := netip.ParsePrefix(pattern); err == nil {
		return true
	}
	if _, err := netip.ParseAddr(pattern); err == nil {
		return true
	}
	return hostPattern.MatchString(strings.TrimPrefix(pattern, "*."))
}

// IsHost says whether a host, in normal form, is a name or an address.
func IsHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" || err != nil && hostPattern.MatchString(host)
}

// Allows says whether a host, in normal form, may be a target.
func (t Targets) Allows(host string) bool {
	if clusterService(host) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	for _, rule := range t.rules {
		for _, pattern := range rule.Hosts {
			if pattern == "*" {
				return true
			}
			pattern = NormalHost(pattern)
			if err == nil && addressMatches(pattern, addr.Unmap()) || err != nil && nameMatches(pattern, host) {
				return true
			}
		}
	}
	return false
}

func addressMatches(pattern string, addr netip.Addr) bool {
	if prefix, err := netip.ParsePrefix(pattern); err == nil {
		return prefix.Contains(addr)
	}
	allowed, err := netip.ParseAddr(pattern)
	return err == nil && allowed.Unmap() == addr
}

func nameMatches(pattern, host string) bool {
	if domain, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+domain)
	}
	return pattern == host
}

// clusterService says whether a host can only be a Service of this cluster. A
// bare name is completed by the pod's search path; name.namespace is not
// accepted, because it looks like a public domain; localhost is the pod itself.
func clusterService(host string) bool {
	host = strings.TrimSuffix(host, ".cluster.local")
	if name, ok := strings.CutSuffix(host, ".svc"); ok {
		return hostPattern.MatchString(name)
	}
	return servicePattern.MatchString(host) && host != "localhost"
}

// NormalHost is a host as it is compared: lower case, without the final dot of
// a fully qualified name.
func NormalHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }
