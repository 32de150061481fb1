package address

import (
	"net/netip"
	"slices"
)

// SpecialKind is the kind, with its article, of an address that no service of a cluster
// has and that is never connected to: "a loopback". "" is any other address.
func SpecialKind(a netip.Addr) string {
	a = Plain(a)
	switch {
	case !a.IsValid():
		return "no"
	case a.IsLoopback():
		return "a loopback"
	case a.IsLinkLocalUnicast():
		return "a link-local"
	case slices.Contains(metadata, a):
		return "a metadata service's"
	case a.IsUnspecified(), thisNetwork.Contains(a):
		return "an unspecified"
	case a.IsMulticast():
		return "a multicast"
	case a == broadcast:
		return "a broadcast"
	case within(a, embedding):
		return "a translated"
	}
	return ""
}

// IsPublic says whether an address is one of the Internet's. What is neither special nor
// public is private: of a cluster, of a company's network, or reserved.
func IsPublic(a netip.Addr) bool {
	a = Plain(a)
	if SpecialKind(a) != "" {
		return false
	}
	if a.Is4() {
		return !within(a, private)
	}
	return global.Contains(a) && !within(a, reserved)
}

// Plain is an address without its zone, and the IPv4 address that an IPv6 address stands
// for.
func Plain(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func within(a netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// metadata are the addresses at which clouds hand out credentials, beside the link-local
// ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon, over IPv6
	netip.MustParseAddr("fd00:ec2::23"),    // the identities of EKS's pods
	netip.MustParseAddr("fd20:ce::254"),    // Google, over IPv6
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure's WireServer
	netip.MustParseAddr("192.0.0.192"),     // Oracle, of old
}

var (
	// thisNetwork reaches the machine itself, like the unspecified address in it.
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	// broadcast reaches every neighbour on the link.
	broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	// nat64 is the prefix under which NAT64 has IPv4 addresses (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global are the addresses of the Internet over IPv6.
	global = netip.MustParsePrefix("2000::/3")
)

// embedding are the other ranges of IPv6 whose addresses stand for IPv4 addresses. How
// depends on the network, so that none of them can be judged.
var embedding = prefixes(
	"64:ff9b:1::/48",  // NAT64 of local use (RFC 8215)
	"::/96",           // IPv4-compatible
	"::ffff:0:0:0/96", // IPv4-translated (RFC 2765)
	"2002::/16",       // 6to4
	"2001::/32",       // Teredo
	"fec0::/10",       // site-local, of old
)

// private are the ranges of IPv4 that are not the Internet's (RFC 6890).
var private = prefixes(
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
	"100.64.0.0/10",                                   // carrier-grade NAT; pods and nodes of some clouds
	"192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", // protocols, 6to4 relays, benchmarks
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // documentation
	"240.0.0.0/4", // reserved; pods of some clouds
)

// reserved are those of IPv6 within global.
var reserved = prefixes("2001::/23", "2001:db8::/32", "3fff::/20")

func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}
