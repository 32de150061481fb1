package transport

import (
	"fmt"
	"net/netip"
)

// Policy says which addresses may be dialled. The zero value refuses what no
// service of a cluster has: the pod itself, its neighbours on the link, and the
// metadata service of a cloud, which hands out credentials.
type Policy struct {
	// AllowSpecial permits all of those, for local mode and tests.
	AllowSpecial bool
}

// PolicyError is an address that the policy refuses.
type PolicyError struct {
	Address netip.Addr
	What    string
}

func (e *PolicyError) Error() string {
	return fmt.Sprintf("address %v is refused: %s address", e.Address, e.What)
}

// metadata are the metadata addresses that are not link-local: Amazon's over
// IPv6 and Alibaba's.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("100.100.100.200"),
}

// thisNetwork reaches the machine itself, like the unspecified address in it.
var thisNetwork = netip.MustParsePrefix("0.0.0.0/8")

// broadcast reaches every neighbour on the link.
var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// translated is the prefix under which NAT64 hides IPv4 addresses (RFC 6052).
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Check refuses an address with a *PolicyError.
func (p Policy) Check(a netip.Addr) error {
	if p.AllowSpecial {
		return nil
	}
	if what := special(plain(a)); what != "" {
		return &PolicyError{Address: a, What: what}
	}
	return nil
}

// plain is the IPv4 address inside an IPv6 one, if there is one.
func plain(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func special(a netip.Addr) string {
	switch {
	case a.IsLoopback():
		return "a loopback"
	case a.IsLinkLocalUnicast():
		return "a link-local"
	case a.IsUnspecified(), a.Is4() && thisNetwork.Contains(a):
		return "an unspecified"
	case a.IsMulticast():
		return "a multicast"
	case a == broadcast:
		return "a broadcast"
	}
	for _, m := range metadata {
		if a == m {
			return "a metadata service's"
		}
	}
	return ""
}
