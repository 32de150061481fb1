//go:build e2e

package abuse

import "testing"

// targetAbuses aim at what is no target of a tenant.
var targetAbuses = []abuse{
	// One of what the schema and the policy of targets refuse: a test of the API has all others,
	// and one of the chart.
	{"credentials in the URL", schema, "spec.target.url", aimsAt("url: 'http://me:secret@shortener'")},
	{"the metadata address", admissionPolicy, "address 169.254.169.254 can never be a target", aimsAt("url: 'http://169.254.169.254'")},
	{"an address of the Internet", operator, "192.0.2.1", aimsAt("url: 'http://192.0.2.1'")},
	{"a host of the Internet", operator, "example.com", aimsAt("url: 'http://example.com'")},
	{"a host of the Internet behind a proxy", operator, "example.com", aimsAt("url: 'http://example.com', proxy: {url: 'http://proxy:3128'}")},
	{"another target at the metadata address", admissionPolicy, "spec.otherTargets[identity].url: address 169.254.169.254 can never be a target", alsoAimsAt("url: 'http://169.254.169.254'")},
	{"another target that is the API server", admissionPolicy, "kubernetes.default.svc can never be a target", alsoAimsAt("url: 'https://kubernetes.default.svc'")},
	{"another target on the Internet", operator, "spec.otherTargets[identity].url: host example.com", alsoAimsAt("url: 'http://example.com'")},
	{"another target on the Internet behind a proxy", operator, "spec.otherTargets[identity]", alsoAimsAt("service: {name: api}, proxy: {url: 'http://example.com:3128'}")},
	{"a proxy of the Internet", operator, "example.com", aimsAt("service: {name: api}, proxy: {url: 'http://example.com:3128'}")},
}

// alsoAimsAt runs a LoadTest of which one request goes to another target.
func alsoAimsAt(target string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.apply(t, `
target: {service: {name: api}}
otherTargets: [{name: identity, `+target+`}]
requests: [{name: r, http: {path: /}}, {name: token, target: identity, http: {path: /}}]
steps: [{name: one, rate: 1, duration: 1s}]
startDeadlineSeconds: 30
`)
	}
}

// aimsAt runs a LoadTest with that target.
func aimsAt(target string) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		return people.attacker.apply(t, specWith("target: {"+target+"}\nstartDeadlineSeconds: 30"))
	}
}
