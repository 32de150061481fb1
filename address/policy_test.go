package address

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestPolicyPermitsWhatIsAllowedAlone(t *testing.T) {
	prefix := netip.MustParsePrefix
	p := Policy{
		Allowed: []Destination{{Range: prefix("10.20.0.0/16"), Port: 8080}, {Range: prefix("10.96.0.5/32"), Port: 80}, {Port: 443}, {Range: prefix("fd00::/64")}, {Range: prefix("0.0.0.0/0"), Port: 9}},
		Denied:  []netip.Prefix{prefix("10.20.0.7/32"), prefix("8.8.4.0/24")},
	}
	for to, refused := range map[string]string{
		"10.20.3.4:8080":          "",
		"[::ffff:10.20.3.4]:8080": "",
		"[64:ff9b::a14:304]:8080": "",
		"10.20.3.4:8081":          "its port 8081 was not among the allowed ones",
		"10.96.0.5:80":            "",
		"10.96.0.6:80":            "not among the allowed ones",
		"8.8.8.8:443":             "",
		"8.8.8.8:80":              "not among the allowed ones",
		"10.1.1.1:443":            "not among the allowed ones",
		"[fd00::5]:1":             "",
		"[fd00:0:0:1::5]:1":       "not among the allowed ones",
		"10.20.0.7:8080":          "the administrator excludes",
		"[::ffff:10.20.0.7]:8080": "the administrator excludes",
		"8.8.4.4:443":             "the administrator excludes",
		"127.0.0.1:9":             "a loopback address",
		"169.254.169.254:9":       "a link-local address",
		"[2002:a9fe:a9fe::]:443":  "a translated address",
	} {
		got := ""
		if err := p.Check(netip.MustParseAddrPort(to)); err != nil {
			got = err.Error()
		}
		if (got == "") != (refused == "") || !strings.Contains(got, refused) {
			t.Errorf("%s: %q, want %q", to, got, refused)
		}
		if err := (Policy{AllowSpecial: true}).Check(netip.MustParseAddrPort(to)); err != nil {
			t.Errorf("everything is allowed: %v", err)
		}
		if (Policy{}).Check(netip.MustParseAddrPort(to)) == nil {
			t.Errorf("%s: the zero policy permits it", to)
		}
	}
}

func TestCurrentRefusesEverythingUntilItIsSet(t *testing.T) {
	var c Current
	to := netip.MustParseAddrPort("10.0.0.1:80")
	if c.Check(to) == nil {
		t.Error("permitted before any policy")
	}
	c.Set(Policy{Allowed: []Destination{{Range: netip.MustParsePrefix("10.0.0.0/8")}}})
	if err := c.Check(to); err != nil {
		t.Error(err)
	}
	c.Set(Policy{})
	if c.Check(to) == nil {
		t.Error("permitted by a policy that was replaced")
	}
}

// No policy of a cluster, whatever it allows, permits a special address, in any spelling.
func FuzzPolicyNeverPermitsSpecialAddresses(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "10.0.0.1"} {
		b := netip.MustParseAddr(s).As16()
		f.Add(b[:], uint16(80), byte(0))
	}
	all := Policy{Allowed: []Destination{{Range: netip.MustParsePrefix("0.0.0.0/0")}, {Range: netip.MustParsePrefix("::/0")}, {}}}
	f.Fuzz(func(t *testing.T, raw []byte, port uint16, _ byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		err := all.Check(netip.AddrPortFrom(a, port))
		if special := SpecialKind(a) != ""; special != (err != nil) {
			t.Errorf("%v: special %v, and %v", a, special, err)
		}
		v4 := a.Unmap()
		if !v4.Is4() {
			return
		}
		// Whatever spelling leads to it, the address is judged alike.
		b := v4.As4()
		for _, prefix := range [][]byte{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}} {
			same, _ := netip.AddrFromSlice(slices.Concat(prefix, b[:]))
			if SpecialKind(same) != SpecialKind(v4) || IsPublic(same) != IsPublic(v4) {
				t.Errorf("%v and %v are judged differently", same, v4)
			}
		}
	})
}

func TestPolicyListsPods(t *testing.T) {
	pod := func(a string, port uint16) Destination {
		return Destination{Range: netip.MustParsePrefix(a), Port: port, Pod: true}
	}
	for _, tt := range []struct {
		policy Policy
		want   string
	}{
		{Policy{Allowed: []Destination{pod("10.0.0.1/32", 80), pod("10.0.0.2/32", 81), pod("fd00::1/128", 0)}}, "[10.0.0.1 fd00::1]"},
		{Policy{Allowed: []Destination{pod("10.0.0.1/32", 80), pod("10.0.0.2/32", 80)}, Denied: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}, "[10.0.0.2]"},
		{Policy{Allowed: []Destination{pod("169.254.169.254/32", 80)}}, "[]"},
		{Policy{Allowed: []Destination{pod("10.0.0.1/32", 80), {Range: netip.MustParsePrefix("10.0.0.2/32"), Port: 80}, {Port: 80}}}, "[10.0.0.1]"},
		{Policy{Allowed: []Destination{{Range: netip.MustParsePrefix("10.0.0.2/32"), Port: 80}}}, "[]"},
	} {
		current := &Current{}
		if got := current.Pods(80); got != nil {
			t.Errorf("no policy lists %v", got)
		}
		current.Set(tt.policy)
		if got := fmt.Sprint(current.Pods(80)); got != tt.want {
			t.Errorf("%+v lists %s, want %s", tt.policy, got, tt.want)
		}
	}
}
