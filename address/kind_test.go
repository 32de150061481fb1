package address

import (
	"net/netip"
	"testing"
)

func TestAddressesOfEachKind(t *testing.T) {
	for address, want := range map[string]string{ // address to its kind, public or private
		"10.96.0.1":              "private",
		"192.168.1.1":            "private",
		"172.31.255.255":         "private",
		"100.64.0.1":             "private",
		"198.18.0.1":             "private",
		"203.0.113.7":            "private",
		"240.0.0.1":              "private",
		"fd00::1":                "private",
		"2001:db8::1":            "private",
		"2001:10::1":             "private",
		"4000::1":                "private",
		"64:ff9b::a60:1":         "private",
		"::ffff:10.0.0.1":        "private",
		"172.32.0.1":             "public",
		"8.8.8.8":                "public",
		"::ffff:8.8.8.8":         "public",
		"64:ff9b::808:808":       "public",
		"2606:4700::1111":        "public",
		"127.0.0.1":              "a loopback",
		"127.8.9.1":              "a loopback",
		"::1":                    "a loopback",
		"::ffff:127.0.0.1":       "a loopback",
		"64:ff9b::7f00:1":        "a loopback",
		"169.254.169.254":        "a link-local",
		"::ffff:169.254.169.254": "a link-local",
		"64:ff9b::a9fe:a9fe":     "a link-local",
		"169.254.170.2":          "a link-local",
		"fe80::1":                "a link-local",
		"fe80::1%eth0":           "a link-local",
		"0.0.0.0":                "an unspecified",
		"0.1.2.3":                "an unspecified",
		"::":                     "an unspecified",
		"224.0.0.1":              "a multicast",
		"ff02::1":                "a multicast",
		"255.255.255.255":        "a broadcast",
		"fd00:ec2::254":          "a metadata service's",
		"fd00:ec2::23":           "a metadata service's",
		"fd20:ce::254":           "a metadata service's",
		"fd20:ce::254%eth0":      "a metadata service's",
		"fd00:c1::a9fe:a9fe":     "a metadata service's",
		"fd00:42::42":            "a metadata service's",
		"fd00:a9fe:a9fe::1":      "a metadata service's",
		"fd00:100::100:200":      "a metadata service's",
		"100.100.100.200":        "a metadata service's",
		"168.63.129.16":          "a metadata service's",
		"192.0.0.192":            "a metadata service's",
		"64:ff9b:1::a9fe:a9fe":   "a translated",
		"::127.0.0.1":            "a translated",
		"::ffff:0:7f00:1":        "a translated",
		"2002:7f00:1::1":         "a translated",
		"2001:0:a9fe:a9fe::":     "a translated",
		"fec0::1":                "a translated",
	} {
		t.Run(address, func(t *testing.T) {
			a := netip.MustParseAddr(address)
			got := SpecialKind(a)
			switch {
			case IsPublic(a) && got != "":
				t.Errorf("%s is public and %s", a, got)
			case IsPublic(a):
				got = "public"
			case got == "":
				got = "private"
			}
			if got != want {
				t.Errorf("%s is %s, want %s", address, got, want)
			}
		})
	}
	if SpecialKind(netip.Addr{}) == "" || IsPublic(netip.Addr{}) {
		t.Error("no address is an address")
	}
}
