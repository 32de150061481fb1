package address

import (
	"fmt"
	"net/netip"
)

// Policy decides where connections may go to. The zero value refuses every address.
type Policy struct {
	// AllowSpecial permits every address: on a machine of one's own.
	AllowSpecial bool
	// Allowed are the destinations that are permitted, and Denied addresses that are not,
	// whatever Allowed says. No special address is.
	Allowed []Destination
	Denied  []netip.Prefix
}

// Destination is a range of addresses, at one port.
type Destination struct {
	// Range is the zero value for all public addresses.
	Range netip.Prefix
	// Port is 0 for all ports.
	Port uint16
	// Pod says that it is the address of a pod of the target, which may replace another.
	Pod bool
}

// RefusedError is an address that a policy refuses.
type RefusedError struct {
	Address netip.Addr
	// Why says what it is, or is not.
	Why string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("address %v is refused: %s", e.Address, e.Why)
}

// Check returns a *RefusedError for an address that may not be connected to.
func (p Policy) Check(to netip.AddrPort) error {
	if p.AllowSpecial {
		return nil
	}
	refuse := func(why string) error { return &RefusedError{Address: to.Addr(), Why: why} }
	if kind := SpecialKind(to.Addr()); kind != "" {
		return refuse(kind + " address")
	}
	if within(Plain(to.Addr()), p.Denied) {
		return refuse("it belongs to a node, the API server, the operator or a range that the administrator excludes")
	}
	for _, d := range p.Allowed {
		if d.contains(to) {
			return nil
		}
	}
	return refuse(fmt.Sprintf("its port %d was not among the allowed ones when the run was accepted", to.Port()))
}

// Pods are the addresses of the target's pods that are permitted at a port. They are not
// known of a target whose address is not that of pods.
func (p Policy) Pods(port uint16) (list []netip.Addr) {
	for _, d := range p.Allowed {
		to := netip.AddrPortFrom(d.Range.Addr(), port)
		if d.Pod && p.Check(to) == nil {
			list = append(list, to.Addr())
		}
	}
	return list
}

func (d Destination) contains(to netip.AddrPort) bool {
	if d.Port != 0 && d.Port != to.Port() {
		return false
	}
	if !d.Range.IsValid() {
		return IsPublic(to.Addr())
	}
	return d.Range.Contains(Plain(to.Addr()))
}
