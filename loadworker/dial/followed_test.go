package dial

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// pods are what a policy names.
func pods(names ...string) address.Policy {
	p := address.Policy{}
	for _, name := range names {
		a := netip.MustParseAddr(name)
		p.Allowed = append(p.Allowed, address.Destination{Range: netip.PrefixFrom(a, a.BitLen()), Port: 80, Pod: true})
	}
	return p
}

// A pod that is not named is not connected to, and fails no request: those are that are
// named. Where ranges are named, the answer is what the target is.
func TestPodsAreFollowedOnceTheyAreNamed(t *testing.T) {
	current, answer := &address.Current{}, ""
	d, err := NewDialer(Config{URL: "http://a.test", Policy: current, Lookup: func(context.Context, string) (all []netip.Addr, _ error) {
		for name := range strings.FieldsSeq(answer) {
			all = append(all, netip.MustParseAddr(name))
		}
		return all, nil
	}})
	must.Succeed(t, err)
	ranged := address.Policy{Allowed: []address.Destination{{Range: netip.MustParsePrefix("10.0.0.0/24")}}}
	single := address.Policy{Allowed: []address.Destination{{Range: netip.MustParsePrefix("10.0.0.1/32"), Port: 80}}}
	for _, step := range []struct {
		does   string
		policy address.Policy
		answer string
		want   string
	}{
		{"a pod that is named", pods("10.0.0.1"), "10.0.0.1", "10.0.0.1"},
		{"another one, known to name servers alone", pods("10.0.0.1"), "10.0.0.2", "10.0.0.1"},
		{"both are named", pods("10.0.0.1", "10.0.0.2"), "10.0.0.2", "10.0.0.2"},
		{"the old one, not named any more, in an answer that was kept", pods("10.0.0.2"), "10.0.0.1", "10.0.0.2"},
		{"one beside it, known to name servers alone", pods("10.0.0.2"), "10.0.0.3 10.0.0.2", "10.0.0.3 10.0.0.2"},
		{"nothing is named", address.Policy{}, "10.0.0.4", "10.0.0.4"},
		{"a range", ranged, "10.0.0.7", "10.0.0.7"},
		{"an address beyond the range", ranged, "10.0.1.7", "10.0.1.7"},
		{"an address that is not the only one of a rule", single, "10.0.1.7", "10.0.1.7"},
		{"a special address", ranged, "169.254.169.254", "169.254.169.254"},
	} {
		current.Set(step.policy)
		answer = step.answer
		d.resolver.cached.Store(nil)
		addrs, err := d.addresses(t.Context())
		must.Succeed(t, err)
		var got []string
		for _, a := range addrs {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("%s: %v, want %s", step.does, got, step.want)
		}
	}
}
