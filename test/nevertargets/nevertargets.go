package nevertargets

import (
	"fmt"
	"slices"
	"strings"
)

// Target is one that the API server refuses.
type Target struct {
	// Fields are those of spec.target, in YAML.
	Fields string
	// Says is what the refusal says after the place and a dot.
	Says string
}

// Targets are all of a release in a namespace.
func Targets(release, namespace string) []Target {
	all := slices.Clone(targets)
	for _, s := range []string{"leader." + namespace + ".svc:9443", "metrics." + namespace + ".svc"} {
		host, _, _ := strings.Cut(release+"-"+s, ":")
		all = append(all, at(release+"-"+s, host+" can never be a target"))
	}
	return all
}

// at is a target by its URL, of which a refusal says that.
func at(host, says string) Target {
	return Target{fmt.Sprintf("url: 'http://%s'", host), "url: " + says}
}

// address is one by its address.
func address(host, text string) Target { return at(host, "address "+text+" can never be a target") }

// misspelled is one by an address that is written in another way than people write it.
func misspelled(host, text string) Target {
	return at(host, text+" is not how an address is written")
}

// named is one by its name.
func named(host, text string) Target { return at(host, text+" can never be a target") }

var targets = []Target{
	address("127.0.0.1:8080", "127.0.0.1"),
	address("127.8.9.1", "127.8.9.1"),
	address("[::1]:8080", "::1"),
	address("0.0.0.0", "0.0.0.0"),
	address("169.254.169.254", "169.254.169.254"),
	address("169.254.169.254.", "169.254.169.254"),
	address("[fe80::1]", "fe80::1"),
	address("[fd00:ec2::254]", "fd00:ec2::254"),
	address("[FD00:EC2::254]", "fd00:ec2::254"),
	address("[fd00:0ec2:0:0::254]", "fd00:0ec2:0:0::254"),
	address("100.100.100.200", "100.100.100.200"),
	address("[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe"),
	address("[2002:7f00:1::]", "2002:7f00:1::"),
	address("224.0.0.1", "224.0.0.1"),
	address("255.255.255.255", "255.255.255.255"),
	misspelled("[::ffff:169.254.169.254]", "::ffff:169.254.169.254"),
	misspelled("[::ffff:a9fe:a9fe]", "::ffff:a9fe:a9fe"),
	misspelled("[fe80::1%25eth0]", "fe80::1%eth0"),
	misspelled("2852039166", "2852039166"),
	misspelled("0x7f.1", "0x7f.1"),
	misspelled("127.000.000.001", "127.000.000.001"),
	named("localhost:8080", "localhost"),
	named("LocalHost.", "localhost"),
	named("a.localhost", "a.localhost"),
	named("kubernetes.default", "kubernetes.default"),
	named("kubernetes.default.svc", "kubernetes.default.svc"),
	named("kubernetes.default.svc.cluster.local.", "kubernetes.default.svc"),
	named("metadata.google.internal", "metadata.google.internal"),
	named("metadata.google.internal:8080", "metadata.google.internal"),
	at("10.0.0.1:10250", "port 10250 of host 10.0.0.1 can never be a target"),
	at("node-1.example.com:10255", "port 10255 of host node-1.example.com can never be a target"),
	{"service: {name: api}, proxy: {url: 'http://localhost:3128'}", "proxy.url: localhost can never be a target"},
	{"service: {name: api}, proxy: {url: 'http://169.254.169.254:3128'}", "proxy.url: address 169.254.169.254 can never be a target"},
}

// Place is a part of a spec that has a target.
type Place struct {
	// Field is its path, with which a refusal begins.
	Field string
	// Spec are the fields of a spec in which %s stands for those of the target.
	Spec string
}

// With are the fields of a spec with a target in that place.
func (p Place) With(target string) string { return fmt.Sprintf(p.Spec, target) }

// Places are all.
var Places = []Place{
	{"spec.target", "target: {%s}"},
	{"spec.otherTargets[identity]", "target: {service: {name: api}}\notherTargets: [{name: a, service: {name: b}}, {name: identity, %s}]"},
}
