//go:build e2e

package e2e

import "testing"

// targetAbuses aim at what is no target of a tenant.
var targetAbuses = []abuse{
	{"the metadata address as a URL", operator, "169.254.169.254", aimsAt("url: 'http://169.254.169.254'")},
	{"the metadata address over IPv6 as a URL", operator, "fd00:ec2::254", aimsAt("url: 'http://[fd00:ec2::254]'")},
	{"the metadata address as a number", operator, "2852039166", aimsAt("url: 'http://2852039166'")},
	{"the metadata address as an IPv4-mapped one", operator, "::ffff:169.254.169.254", aimsAt("url: 'http://[::ffff:169.254.169.254]'")},
	{"the metadata address behind NAT64", operator, "64:ff9b::a9fe:a9fe", aimsAt("url: 'http://[64:ff9b::a9fe:a9fe]'")},
	{"the loopback address as a URL", operator, "127.0.0.1", aimsAt("url: 'http://127.0.0.1:8080'")},
	{"localhost", operator, "localhost", aimsAt("url: 'http://localhost:8080'")},
	{"an address of the Internet", operator, "192.0.2.1", aimsAt("url: 'http://192.0.2.1'")},
	{"a host of the Internet", operator, "example.com", aimsAt("url: 'http://example.com'")},
	{"a host of the Internet behind a proxy", operator, "example.com", aimsAt("url: 'http://example.com', proxy: {url: 'http://proxy:3128'}")},
	{"a proxy of the Internet", operator, "example.com", aimsAt("service: {name: api}, proxy: {url: 'http://example.com:3128'}")},
}

// aimsAt runs a LoadTest with that target.
func aimsAt(target string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.apply(t, specWith("target: {"+target+"}\nstartDeadlineSeconds: 30"))
	}
}
