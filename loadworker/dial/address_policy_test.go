package dial

import (
	"net/netip"
	"testing"
)

func TestAddressPolicyRefusesWhatNoServiceHas(t *testing.T) {
	tests := map[string]string{ // address to refusal; "": permitted
		"10.96.0.1":              "",
		"192.168.1.1":            "",
		"203.0.113.7":            "",
		"fd00::1":                "",
		"2001:db8::1":            "",
		"64:ff9b::a60:1":         "",
		"127.0.0.1":              "a loopback",
		"127.8.9.1":              "a loopback",
		"::1":                    "a loopback",
		"::ffff:127.0.0.1":       "a loopback",
		"64:ff9b::7f00:1":        "a loopback",
		"169.254.169.254":        "a link-local",
		"::ffff:169.254.169.254": "a link-local",
		"64:ff9b::a9fe:a9fe":     "a link-local",
		"fe80::1":                "a link-local",
		"fe80::1%eth0":           "a link-local",
		"0.0.0.0":                "an unspecified",
		"0.1.2.3":                "an unspecified",
		"::":                     "an unspecified",
		"224.0.0.1":              "a multicast",
		"ff02::1":                "a multicast",
		"255.255.255.255":        "a broadcast",
		"fd00:ec2::254":          "a metadata service's",
		"100.100.100.200":        "a metadata service's",
	}
	for address, kind := range tests {
		t.Run(address, func(t *testing.T) {
			a, want, got := netip.MustParseAddr(address), "", ""
			if kind != "" {
				want = "address " + address + " is refused: " + kind + " address"
			}
			if err := (AddressPolicy{}).Check(a); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("Check(%s) = %q, want %q", address, got, want)
			}
			if err := (AddressPolicy{AllowSpecial: true}).Check(a); err != nil {
				t.Errorf("with AllowSpecial: %v, want that it is permitted", err)
			}
		})
	}
}
