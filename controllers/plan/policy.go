package plan

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// Policy is what the administrator allows as targets beyond the Services of the
// cluster, which are always allowed.
type Policy struct {
	// AllowedHosts are patterns: a host name ("api.example.com"), all names below
	// a domain ("*.example.com"), an address ("192.0.2.1"), a range of addresses
	// ("192.0.2.0/24"), or everything ("*").
	//
	// An address or range allows URLs that name an address; it says nothing of
	// what a name resolves to. The worker checks resolved addresses when it dials.
	AllowedHosts []string
}

// Check refuses patterns that mean nothing.
func (p Policy) Check() error {
	for _, pattern := range p.AllowedHosts {
		if !validPattern(pattern) {
			return fmt.Errorf("allowed host %q: must be a host, *.domain, an address, a CIDR range or *", pattern)
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
	pattern = normalHost(pattern)
	if _, err := netip.ParsePrefix(pattern); err == nil {
		return true
	}
	if _, err := netip.ParseAddr(pattern); err == nil {
		return true
	}
	return hostPattern.MatchString(strings.TrimPrefix(pattern, "*."))
}

// allows says whether a host, in normal form, may be a target.
func (p Policy) allows(host string) bool {
	if clusterService(host) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	for _, pattern := range p.AllowedHosts {
		if pattern == "*" {
			return true
		}
		pattern = normalHost(pattern)
		if err == nil && addressMatches(pattern, addr.Unmap()) || err != nil && nameMatches(pattern, host) {
			return true
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

// normalHost is a host as it is compared: lower case, without the final dot of
// a fully qualified name.
func normalHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }
