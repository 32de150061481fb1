package address

import (
	"net/netip"
	"sync/atomic"
)

// Current is a policy that may be replaced while connections are opened.
type Current struct{ policy atomic.Pointer[Policy] }

// Set replaces the policy.
func (c *Current) Set(p Policy) { c.policy.Store(&p) }

// Check is that of the policy that was set last. Before one is, every address is refused.
func (c *Current) Check(to netip.AddrPort) error {
	if p := c.policy.Load(); p != nil {
		return p.Check(to)
	}
	return Policy{}.Check(to)
}

// Pods are those of the policy that was set last.
func (c *Current) Pods(port uint16) []netip.Addr {
	if p := c.policy.Load(); p != nil {
		return p.Pods(port)
	}
	return nil
}
