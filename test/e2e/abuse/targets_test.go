//go:build e2e

package abuse

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/nevertargets"
)

// targetAbuses aim at what is no target of a tenant.
var targetAbuses = append([]abuse{
	{"credentials in the URL", schema, "spec.target.url", aimsAt("url: 'http://me:secret@shortener'")},
	{"an address of the Internet", operator, "192.0.2.1", aimsAt("url: 'http://192.0.2.1'")},
	{"a host of the Internet", operator, "example.com", aimsAt("url: 'http://example.com'")},
	{"a host of the Internet behind a proxy", operator, "example.com", aimsAt("url: 'http://example.com', proxy: {url: 'http://proxy:3128'}")},
	{"another target on the Internet", operator, "spec.otherTargets[identity].url: host example.com", alsoAimsAt("url: 'http://example.com'")},
	{"another target on the Internet behind a proxy", operator, "spec.otherTargets[identity]", alsoAimsAt("service: {name: api}, proxy: {url: 'http://example.com:3128'}")},
	{"a proxy of the Internet", operator, "example.com", aimsAt("service: {name: api}, proxy: {url: 'http://example.com:3128'}")},
}, neverAbuses()...)

// neverAbuses aim at what never can be a target, from each place of a spec, by oneself and by a
// schedule.
func neverAbuses() (all []abuse) {
	for _, target := range nevertargets.Targets("loadtest-operator", cluster.OperatorNamespace) {
		for _, place := range nevertargets.Places {
			spec := specWith(place.With(target.Fields))
			all = append(all, abuse{place.Field + " {" + target.Fields + "}", admissionPolicy, place.Field + "." + target.Says,
				func(t *testing.T, p *people) attempt { return p.attacker.apply(t, spec) }})
		}
		spec := specWith("target: {" + target.Fields + "}")
		all = append(all, abuse{"{" + target.Fields + "} by a schedule", admissionPolicy, "spec.target." + target.Says, bySchedule(spec, "")})
	}
	return all
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
