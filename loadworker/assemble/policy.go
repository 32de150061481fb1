package assemble

import (
	"fmt"
	"net/netip"
	"net/url"

	"github.com/loadtest-dev/loadtest-operator/address"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Access is where connections to the targets of an assignment may go to. It may be
// replaced while an assembly is made, prepares and runs.
type Access struct {
	target, control address.Current
	others          []*address.Current
}

// NewAccess is the access of an assignment.
func NewAccess(a *workerv1.Assignment) (*Access, error) {
	x := &Access{}
	if err := checkBehindProxy(a.GetTarget()); err != nil {
		return nil, err
	}
	for _, t := range a.GetOtherTargets() {
		current := &address.Current{}
		if err := checkBehindProxy(t); err != nil {
			return nil, err
		}
		if err := set(current, t, t.GetDestinations()); err != nil {
			return nil, err
		}
		x.others = append(x.others, current)
	}
	if err := set(&x.target, a.GetTarget(), a.GetTarget().GetDestinations()); err != nil || a.GetControl() == nil {
		return x, err
	}
	if err := checkBehindProxy(a.GetControl().GetTarget()); err != nil {
		return nil, err
	}
	return x, set(&x.control, a.GetControl().GetTarget(), a.GetControl().GetTarget().GetDestinations())
}

// Redirect replaces where connections for an assignment may go to. Those that are open
// stay.
func (x *Access) Redirect(a *workerv1.Assignment, r *workerv1.Redirect) error {
	if err := set(&x.target, a.GetTarget(), r.GetTarget()); err != nil {
		return err
	}
	for i := range min(len(x.others), len(r.GetOtherTargets())) {
		if err := set(x.others[i], a.GetOtherTargets()[i], r.GetOtherTargets()[i]); err != nil {
			return err
		}
	}
	return set(&x.control, a.GetControl().GetTarget(), r.GetControl())
}

func set(current *address.Current, t *workerv1.Target, d *workerv1.Destinations) error {
	p := address.Policy{AllowSpecial: t.GetAllowSpecialAddresses()}
	if d == nil && p.AllowSpecial {
		p.Allowed = everywhere
	} else if err := addDestinations(&p, d); err != nil {
		return fmt.Errorf("destinations of target %s: %w", t.GetUrl(), err)
	}
	current.Set(p)
	return nil
}

// addDestinations adds those of an assignment. Without any, nothing may be connected to.
func addDestinations(p *address.Policy, d *workerv1.Destinations) (err error) {
	for _, a := range d.GetAllowed() {
		to := address.Destination{Port: uint16(a.GetPort()), Pod: a.GetPod()}
		if a.GetRange() != "" {
			if to.Range, err = netip.ParsePrefix(a.GetRange()); err != nil {
				return err
			}
		}
		p.Allowed = append(p.Allowed, to)
	}
	for _, text := range d.GetDenied() {
		denied, err := netip.ParsePrefix(text)
		if err != nil {
			return err
		}
		p.Denied = append(p.Denied, denied)
	}
	return nil
}

// everywhere is where a person on a machine of their own may connect to.
var everywhere = []address.Destination{{Range: netip.MustParsePrefix("0.0.0.0/0")}, {Range: netip.MustParsePrefix("::/0")}}

// checkBehindProxy refuses a target behind a proxy that is a special address: what is
// permitted to be dialled is the proxy's.
func checkBehindProxy(t *workerv1.Target) error {
	if t.GetProxyUrl() == "" || t.GetAllowSpecialAddresses() {
		return nil
	}
	u, err := url.Parse(t.GetUrl())
	if err != nil {
		return fmt.Errorf("target url: %w", err)
	}
	a, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil // a name, which the proxy resolves
	}
	if kind := address.SpecialKind(a); kind != "" {
		return fmt.Errorf("target url: %w", &address.RefusedError{Address: a, Why: kind + " address"})
	}
	return nil
}
