package dial

import (
	"fmt"
	"net/netip"
	"slices"
)

// AddressPolicy decides which addresses may be dialled. The zero value refuses the
// addresses that no service of a cluster has: the pod itself, its neighbours on the
// link, and the metadata service of a cloud, which hands out credentials.
type AddressPolicy struct {
	// AllowSpecial permits all of those.
	AllowSpecial bool
}

// RefusedAddressError is an address that the policy refuses.
type RefusedAddressError struct {
	Address netip.Addr
	// Kind is the kind of address, with its article: "a loopback".
	Kind string
}

func (e *RefusedAddressError) Error() string {
	return fmt.Sprintf("address %v is refused: %s address", e.Address, e.Kind)
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

// Check returns a *RefusedAddressError for an address that may not be dialled.
func (p AddressPolicy) Check(a netip.Addr) error {
	if p.AllowSpecial {
		return nil
	}
	if kind := specialKind(unwrapIPv4(a)); kind != "" {
		return &RefusedAddressError{Address: a, Kind: kind}
	}
	return nil
}

// unwrapIPv4 returns the IPv4 address inside an IPv6 address, if there is one.
func unwrapIPv4(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// specialKind returns the kind of an address that no service has, or "".
func specialKind(a netip.Addr) string {
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
	case slices.Contains(metadata, a):
		return "a metadata service's"
	}
	return ""
}
