package address

import (
	"net/netip"
	"slices"
)

// SpecialKind is the kind, with its article, of an address that no service of a cluster
// has and that is never connected to: "a loopback". "" is any other address.
func SpecialKind(a netip.Addr) string {
	a = Plain(a)
	if !a.IsValid() {
		return "no"
	}
	for _, s := range special {
		if within(a, s.ranges) {
			return s.kind
		}
	}
	return ""
}

// Special are the ranges of the addresses that have a kind, also as NAT64 spells them.
func Special() (list []netip.Prefix) {
	for _, s := range special {
		for _, p := range s.ranges {
			list = append(list, p)
			if p.Addr().Is4() {
				b := nat64.Addr().As16()
				copy(b[12:], p.Addr().AsSlice())
				list = append(list, netip.PrefixFrom(netip.AddrFrom16(b), 96+p.Bits()))
			}
		}
	}
	return list
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

// nat64 is the prefix under which NAT64 has IPv4 addresses (RFC 6052), and global are the
// addresses of the Internet over IPv6.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3")
)

// special are the ranges of each kind. The first that has an address names its kind.
var special = []struct {
	kind   string
	ranges []netip.Prefix
}{
	{"a loopback", prefixes("127.0.0.0/8", "::1/128")},
	{"a link-local", prefixes("169.254.0.0/16", "fe80::/10")},
	// Where clouds hand out credentials, beside the link-local addresses.
	{"a metadata service's", prefixes(
		"fd00:ec2::254/128",      // Amazon, over IPv6
		"fd00:ec2::23/128",       // the identities of EKS's pods
		"fd20:ce::254/128",       // Google, over IPv6
		"fd00:c1::a9fe:a9fe/128", // Oracle, over IPv6
		"fd00:42::42/128",        // Scaleway, over IPv6
		"fd00:a9fe:a9fe::1/128",  // Akamai, over IPv6
		"fd00:100::100:200/128",  // Alibaba, over IPv6
		"100.100.100.200/32",     // Alibaba
		"168.63.129.16/32",       // Azure's WireServer
		"192.0.0.192/32",         // Oracle, of old
	)},
	// They reach the machine itself.
	{"an unspecified", prefixes("0.0.0.0/8", "::/128")},
	{"a multicast", prefixes("224.0.0.0/4", "ff00::/8")},
	{"a broadcast", prefixes("255.255.255.255/32")},
	// The other ranges of IPv6 whose addresses stand for IPv4 addresses. How depends on
	// the network, so that none of them can be judged.
	{"a translated", prefixes(
		"64:ff9b:1::/48",  // NAT64 of local use (RFC 8215)
		"::/96",           // IPv4-compatible
		"::ffff:0:0:0/96", // IPv4-translated (RFC 2765)
		"2002::/16",       // 6to4
		"2001::/32",       // Teredo
		"fec0::/10",       // site-local, of old
	)},
}

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
