package plan_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

func TestPolicyDecidesOnTheHost(t *testing.T) {
	tests := map[string]struct {
		patterns []string
		url      string
		allowed  bool
	}{
		"bare name":                           {nil, "http://shortener:8080", true},
		"name in upper case":                  {nil, "http://Shortener:8080", true},
		"service of another namespace":        {nil, "http://shortener.prod.svc:8080", true},
		"full name of a service":              {nil, "https://shortener.prod.svc.cluster.local", true},
		"full name with its final dot":        {nil, "http://shortener.prod.svc.cluster.local.", true},
		"name and namespace look public":      {nil, "http://shortener.prod", false},
		"public name":                         {nil, "http://example.com", false},
		"name that only ends alike":           {nil, "http://evil-svc.com", false},
		"localhost":                           {nil, "http://localhost:8080", false},
		"address":                             {nil, "http://192.0.2.1", false},
		"address as one number":               {nil, "http://2130706433", false},
		"address in hexadecimal":              {nil, "http://0x7f000001", false},
		"IPv6 address":                        {nil, "http://[2001:db8::1]:80", false},
		"exact host":                          {[]string{"api.example.com"}, "http://API.example.com:8443", true},
		"another host":                        {[]string{"api.example.com"}, "http://www.example.com", false},
		"below a domain":                      {[]string{"*.example.com"}, "http://a.b.example.com", true},
		"the domain itself":                   {[]string{"*.example.com"}, "http://example.com", false},
		"only ends like the domain":           {[]string{"*.example.com"}, "http://badexample.com", false},
		"services stay allowed":               {[]string{"*.example.com"}, "http://shortener", true},
		"everything":                          {[]string{"*"}, "http://example.com", true},
		"everything holds for addresses too":  {[]string{"*"}, "http://192.0.2.1", true},
		"exact address":                       {[]string{"192.0.2.1"}, "http://192.0.2.1:80", true},
		"another address":                     {[]string{"192.0.2.1", "2001:db8::1"}, "http://192.0.2.2", false},
		"exact IPv6 address":                  {[]string{"2001:DB8::1"}, "http://[2001:db8::1]", true},
		"a pattern that spells IPv4 as IPv6":  {[]string{"::ffff:192.0.2.1"}, "http://192.0.2.1", true},
		"a pattern in full and in upper case": {[]string{"API.Example.com."}, "http://api.example.com", true},
		"a domain in upper case":              {[]string{"*.Example.com"}, "http://api.example.com", true},
		"range":                               {[]string{"192.0.2.0/24"}, "http://192.0.2.77", true},
		"outside the range":                   {[]string{"192.0.2.0/24"}, "http://192.0.3.77", false},
		"IPv4 spelled as IPv6 in the range":   {[]string{"192.0.2.0/24"}, "http://[::ffff:192.0.2.77]", true},
		"IPv6 range":                          {[]string{"2001:db8::/32"}, "http://[2001:db8::1]", true},
		"a pattern of names holds no address": {[]string{"*.2.1"}, "http://192.0.2.1", false},
		"the second pattern":                  {[]string{"a.example", "b.example"}, "http://b.example", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := withHosts(tc.patterns)
			if err != nil {
				t.Fatalf("the policy: %v", err)
			}
			lt := loadTest(oneUser())
			lt.Spec.Target.URL = tc.url
			_, refusal := plan.New(lt, p.For(lt.Namespace))
			if got := refusal == nil; got != tc.allowed {
				t.Fatalf("allowed is %t, want %t (%v)", got, tc.allowed, refusal)
			}
			if refusal != nil && refusal.Reason != v1alpha1.ReasonTargetNotAllowed {
				t.Errorf("reason %s, want %s", refusal.Reason, v1alpha1.ReasonTargetNotAllowed)
			}
		})
	}
}

// withHosts is the policy that allows these patterns as targets in every namespace: names,
// addresses and ranges of them, which the names may lead to as well, or * for all.
func withHosts(patterns []string) (*policy.Policy, error) {
	r := config.TargetRule{Proxies: true}
	for _, pattern := range patterns {
		_, errRange := netip.ParsePrefix(pattern)
		_, errAddress := netip.ParseAddr(pattern)
		switch {
		case pattern == "*":
			r.Hosts, r.CIDRs = append(r.Hosts, pattern), append(r.CIDRs, "0.0.0.0/0", "::/0")
		case errRange == nil, errAddress == nil:
			r.CIDRs = append(r.CIDRs, pattern)
		default:
			r.Hosts = append(r.Hosts, pattern)
		}
	}
	if len(patterns) == 0 {
		return policy.Default(), nil
	}
	return policy.New(config.OperatorConfiguration{Targets: config.Targets{Rules: []config.TargetRule{r}}})
}

func oneUser() *v1alpha1.LoadTestSpec {
	return withSteps(v1alpha1.Step{Users: ptr(int32(1)), Duration: duration(time.Second)})
}

func TestPolicyRefusesPatternsThatMeanNothing(t *testing.T) {
	for _, pattern := range []string{"", "*example.com", "a.*.example.com", "http://example.com", "example.com:80", "10.0.0.0/33", "a b", "*."} {
		if _, err := withHosts([]string{pattern}); err == nil {
			t.Errorf("pattern %q is accepted", pattern)
		}
	}
}

type refusalCase = struct {
	edit func(*v1alpha1.LoadTestSpec)
	want *plan.Refusal
}

func proxyRefused(url string) refusalCase {
	return refusalCase{
		func(s *v1alpha1.LoadTestSpec) { s.Target.Proxy = &v1alpha1.Proxy{URL: url} },
		&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.proxy.url: must be http:// with a host, without credentials and without a path, for example http://proxy:3128."},
	}
}

func traceRefused(sampled string) refusalCase {
	return refusalCase{
		func(s *v1alpha1.LoadTestSpec) { s.Target.Trace = &v1alpha1.Trace{Sampled: sampled} },
		&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.trace.sampled: must be a percentage above 0% and up to 100%, such as 1%."},
	}
}

// together are users who send at that rate each.
func together(users int32, rate string) func(*v1alpha1.LoadTestSpec) {
	return func(s *v1alpha1.LoadTestSpec) { s.Steps[0].Users, s.Steps[0].RatePerUser = &users, decimal(rate) }
}

func tooFast(users int32, rate string) refusalCase {
	return refusalCase{together(users, rate), &plan.Refusal{
		Reason:  v1alpha1.ReasonInvalidSpec,
		Message: fmt.Sprintf("spec: the users of step %d users send more than 1000000000 requests per second together; lower users or ratePerUser.", users),
	}}
}

func TestRefusals(t *testing.T) {
	tests := map[string]refusalCase{
		"nothing is wrong": {func(*v1alpha1.LoadTestSpec) {}, nil},
		"a service needs no permission": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Target = v1alpha1.Target{Service: &v1alpha1.ServiceReference{Name: "shortener"}}
			}, nil,
		},
		"all requests are traced": {func(s *v1alpha1.LoadTestSpec) { s.Target.Trace = &v1alpha1.Trace{Sampled: "100%"} }, nil},
		"more than all":           traceRefused("100.000001%"),
		"a share that is invalid": traceRefused("0%"),
		"a share that is no text": traceRefused("some"),
		"a share of the control": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Versus = &v1alpha1.Versus{Target: v1alpha1.Target{URL: s.Target.URL, Trace: &v1alpha1.Trace{Sampled: "0%"}}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.versus.target.trace.sampled: must be a percentage above 0% and up to 100%, such as 1%."},
		},
		"host not allowed": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "https://example.com" },
			&plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: "spec.target.url: host example.com is not allowed; use a Service of this cluster, or ask the administrator to add example.com to targets.rules of the operator's configuration."},
		},
		"proxy not allowed": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.Proxy = &v1alpha1.Proxy{URL: "http://proxy.example.com:3128"} },
			&plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: "spec.target.proxy.url: host proxy.example.com is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration."},
		},
		"proxy of the cluster": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.Proxy = &v1alpha1.Proxy{URL: "http://proxy.tools.svc:3128/"} },
			&plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: "spec.target.proxy.url: host proxy.tools.svc is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration."},
		},
		"host not allowed behind a proxy": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Target.URL, s.Target.Proxy = "https://example.com", &v1alpha1.Proxy{URL: "http://proxy:3128"}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: "spec.target.url: host example.com is not allowed; use a Service of this cluster, or ask the administrator to add example.com to targets.rules of the operator's configuration."},
		},
		"proxy not allowed for a service": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Target = v1alpha1.Target{Service: &v1alpha1.ServiceReference{Name: "shortener"}, Proxy: &v1alpha1.Proxy{URL: "http://192.0.2.1"}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonTargetNotAllowed, Message: "spec.target.proxy.url: host 192.0.2.1 is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration."},
		},
		"proxy over https":         proxyRefused("https://proxy:3128"),
		"proxy with a password":    proxyRefused("http://me:secret@proxy:3128"),
		"proxy with a path":        proxyRefused("http://proxy:3128/x"),
		"proxy that is no address": proxyRefused("proxy:3128"),
		"proxy without a host":     proxyRefused("http://:3128"),
		"proxy that is no URL":     proxyRefused("http://pro xy:3128"),
		"no URL": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://short ener" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: must be http:// or https:// with a host, for example http://shortener:8080."},
		},
		"port 0": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://shortener:0" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: port 0 must be between 1 and 65535."},
		},
		"no host": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: must be http:// or https:// with a host, for example http://shortener:8080."},
		},
		"another scheme": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "ftp://shortener" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: must be http:// or https:// with a host, for example http://shortener:8080."},
		},
		"port out of bounds": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://shortener:70000" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: port 70000 must be between 1 and 65535."},
		},
		"template in the host": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://$user" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: $user is neither a host name nor an address."},
		},
		"address with a zone": {
			func(s *v1alpha1.LoadTestSpec) { s.Target.URL = "http://[fe80::1%25eth0]" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.target.url: fe80::1%eth0 is neither a host name nor an address."},
		},
		"no request": {
			func(s *v1alpha1.LoadTestSpec) { s.Requests = nil },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.requests: at least one request must be set."},
		},
		"only a pause": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps = []v1alpha1.Step{{Pause: duration(time.Second)}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: at least one step must send load; set ladder, steps or search."},
		},
		"a pause after the load": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps = append(s.Steps, v1alpha1.Step{Pause: duration(time.Second)}) }, nil,
		},
		"a pause of nothing": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps = append(s.Steps, v1alpha1.Step{Pause: duration(0)}) },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step pause 0s sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"no users for a while": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].Users = ptr(int32(0)) },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step 0 users sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"fewer users than none": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0].Users, s.Steps[0].RatePerUser = ptr(int32(-5)), decimal("1")
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step -5 users sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"arrivals that end before they begin": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps = []v1alpha1.Step{{Rate: decimal("999999999.999999"), Duration: duration(-time.Second)}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step 999999999.999999/s sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"a step of nothing": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps = []v1alpha1.Step{{Name: "empty"}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step empty sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"users without an end": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps = []v1alpha1.Step{{Users: ptr(int32(5))}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step 5 users sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"a rate that is no number": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps = []v1alpha1.Step{{Pause: duration(1)}, {Rate: decimal("fast"), Duration: duration(time.Second)}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.steps[1].rate: "fast" is not a decimal number such as 0.5.`},
		},
		"a ramp to nothing": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps = []v1alpha1.Step{{Rate: decimal("1"), RampTo: decimal("0"), Duration: duration(time.Second)}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].rampTo: must be greater than 0."},
		},
		"random arrivals have no total, but send": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps = []v1alpha1.Step{{Rate: decimal("1"), Arrivals: v1alpha1.ArrivalsPoisson, Duration: duration(time.Second)}}
			}, nil,
		},
		"random arrivals without an end": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps = []v1alpha1.Step{{Rate: decimal("1"), Arrivals: v1alpha1.ArrivalsPoisson}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: step 1/s sends nothing; set its users or rate, and its duration or requestsPerUser."},
		},
		"a fill of a request that is there": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Requests[0].Name = "create"
				s.Setup = &v1alpha1.Setup{Fill: &v1alpha1.Fill{Request: "create", Count: 1}}
			}, nil,
		},
		"a fill of a request that is not there": {
			func(s *v1alpha1.LoadTestSpec) { s.Setup = &v1alpha1.Setup{Fill: &v1alpha1.Fill{Count: 1}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.setup.fill.request: spec.requests has no request named "".`},
		},
		"a warm-up of a request that is not there, after a fill of one that is": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Requests[0].Name = "create"
				s.Setup = &v1alpha1.Setup{Fill: &v1alpha1.Fill{Request: "create", Count: 1}, WarmUp: &v1alpha1.WarmUp{Request: "follow"}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.setup.warmUp.request: spec.requests has no request named "follow".`},
		},
		"a warm-up of a request that has its name by default": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Setup = &v1alpha1.Setup{WarmUp: &v1alpha1.WarmUp{Request: "GET /"}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.setup.warmUp.request: spec.requests has no request named "GET /".`},
		},
		"a rate of nothing": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].RatePerUser = decimal("0.0") },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].ratePerUser: must be greater than 0."},
		},
		"a ramp of users": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].RampTo = decimal("1000000") }, nil,
		},
		"a ramp to half a user": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].RampTo = decimal("2.5") },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000."},
		},
		"a ramp to more users than there may be": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].RampTo = decimal("1000001") },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000."},
		},
		"a ramp of a burst": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0] = v1alpha1.Step{Users: ptr(int32(1)), RampTo: decimal("2"), RequestsPerUser: ptr(int32(2))}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].rampTo: must not be set with requestsPerUser, whose users begin together."},
		},
		"a ramp that becomes too fast": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0].RampTo, s.Steps[0].RatePerUser = decimal("1000000"), decimal("1001")
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec: the users of step 1 to 1000000 users send more than 1000000000 requests per second together; lower users or ratePerUser."},
		},
		"think times": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0].Think = "1s-3s"
				s.Steps = append(s.Steps, v1alpha1.Step{Users: ptr(int32(1)), RequestsPerUser: ptr(int32(60)), Think: "1m"})
			}, nil,
		},
		"a think time that is none": {
			func(s *v1alpha1.LoadTestSpec) { s.Steps[0].Think = "3s-1s" },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.steps[0].think: "3s-1s" must be a time from 1ms to 1h such as 2s, or a range from the shorter to the longer, such as 1s-3s.`},
		},
		"a ladder's think time that is none": {
			func(s *v1alpha1.LoadTestSpec) { s.Ladder = &v1alpha1.Ladder{Think: "long"} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.ladder.think: "long" must be a time from 1ms to 1h such as 2s, or a range from the shorter to the longer, such as 1s-3s.`},
		},
		"a search's think time that is none": {
			func(s *v1alpha1.LoadTestSpec) { s.Search = &v1alpha1.Search{Think: "2h"} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.search.think: "2h" must be a time from 1ms to 1h such as 2s, or a range from the shorter to the longer, such as 1s-3s.`},
		},
		"think times that no burst has time for": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0] = v1alpha1.Step{Users: ptr(int32(1)), RequestsPerUser: ptr(int32(61)), Think: "1s-1m"}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].think: a user who sends 61 requests may think for an hour or more, but a step with requestsPerUser may take an hour at most; lower think or requestsPerUser."},
		},
		"think times that overflow": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps[0] = v1alpha1.Step{Users: ptr(int32(1)), RequestsPerUser: ptr(int32(1_000_000_000)), Think: "1h"}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.steps[0].think: a user who sends 1000000000 requests may think for an hour or more, but a step with requestsPerUser may take an hour at most; lower think or requestsPerUser."},
		},
		"a ladder's rate that is no number": {
			func(s *v1alpha1.LoadTestSpec) { s.Ladder = &v1alpha1.Ladder{RatePerUser: decimal("1/2")} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: `spec.ladder.ratePerUser: "1/2" is not a decimal number such as 0.5.`},
		},
		"a ladder's rate of nothing": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Ladder = &v1alpha1.Ladder{Rates: []v1alpha1.Decimal{*decimal("1"), *decimal("0")}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.ladder.rates[1]: must be greater than 0."},
		},
		"no weight at all": {
			func(s *v1alpha1.LoadTestSpec) { s.Requests = []v1alpha1.Request{{Weight: ptr(int32(0))}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.requests: at least one request must have a weight above 0."},
		},
		"an object that is expected": {
			func(s *v1alpha1.LoadTestSpec) { s.Requests[0].Expect = expecting(`{"a": 1}`) },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.requests[0].expect.json[1].equals: must be a string, a number, true, false or null; name a value inside an object or a list by path."},
		},
		"a list that a preflight expects": {
			func(s *v1alpha1.LoadTestSpec) { s.Preflight = []v1alpha1.Preflight{{}, {Expect: expecting(`[1]`)}} },
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.preflight[1].expect.json[1].equals: must be a string, a number, true, false or null; name a value inside an object or a list by path."},
		},
		"a text that is expected, too long": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Requests[0].Expect = expecting(`"` + strings.Repeat("x", 1023) + `"`)
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.requests[0].expect.json[1].equals: must have at most 1024 bytes."},
		},
		"a text that just fits": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Requests[0].Expect = expecting(`"` + strings.Repeat("x", 1022) + `"`)
			}, nil,
		},
		"a contract without refill": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Audits = []v1alpha1.Audit{{Name: "contract", RateLimit: &v1alpha1.RateLimit{Capacity: 1, RefillPerSecond: v1alpha1.NewDecimal("0")}}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.audits[0].rateLimit.refillPerSecond: must be greater than 0."},
		},
		"a contract without refill, beside a ladder's rate": {
			func(s *v1alpha1.LoadTestSpec) {
				s.Steps, s.Ladder = nil, &v1alpha1.Ladder{Users: []int32{1}, RatePerUser: decimal("1"), Duration: *duration(time.Second)}
				s.Audits = []v1alpha1.Audit{{Name: "contract", RateLimit: &v1alpha1.RateLimit{Capacity: 1, RefillPerSecond: v1alpha1.NewDecimal("0")}}}
			},
			&plan.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.audits[0].rateLimit.refillPerSecond: must be greater than 0."},
		},
		"a product just in bounds":           {together(1_000_000, "1000"), nil},
		"a product out of bounds":            tooFast(1_000_000, "999999999"),
		"a product just out of bounds":       tooFast(1_000_000, "1000.000001"),
		"a product of more than 63 bits":     tooFast(10_000, "999999999"),
		"a product of 2^64, whose rest is 0": tooFast(524_288, "35184372.088832"),
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lt := loadTest(oneUser())
			tc.edit(&lt.Spec)
			_, refusal := plan.New(lt, policy.Rules{})
			if diff := cmp.Diff(tc.want, refusal); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

// expecting has null, which is a scalar, and that value.
func expecting(raw string) *v1alpha1.Expectation {
	return &v1alpha1.Expectation{JSON: []v1alpha1.ExpectedValue{
		{Path: ".a"}, {Path: ".b", Equals: apiextensionsv1.JSON{Raw: []byte(raw)}},
	}}
}
