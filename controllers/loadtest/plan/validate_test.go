package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPolicyDecidesOnTheHost(t *testing.T) {
	const never = "" // without a rule
	for name, tc := range map[string]struct {
		rule, url string
		allowed   bool
	}{
		"bare name":                           {never, "http://shortener:8080", true},
		"name in upper case":                  {never, "http://Shortener:8080", true},
		"service of another namespace":        {never, "http://shortener.prod.svc:8080", true},
		"full name of a service":              {never, "https://shortener.prod.svc.cluster.local", true},
		"full name with its final dot":        {never, "http://shortener.prod.svc.cluster.local.", true},
		"name and namespace look public":      {never, "http://shortener.prod", false},
		"public name":                         {never, "http://example.com", false},
		"name that only ends alike":           {never, "http://evil-svc.com", false},
		"localhost":                           {never, "http://localhost:8080", false},
		"address":                             {never, "http://192.0.2.1", false},
		"address as one number":               {never, "http://2130706433", false},
		"address in hexadecimal":              {never, "http://0x7f000001", false},
		"IPv6 address":                        {never, "http://[2001:db8::1]:80", false},
		"exact host":                          {"hosts: [api.example.com]", "http://API.example.com:8443", true},
		"another host":                        {"hosts: [api.example.com]", "http://www.example.com", false},
		"below a domain":                      {"hosts: ['*.example.com']", "http://a.b.example.com", true},
		"the domain itself":                   {"hosts: ['*.example.com']", "http://example.com", false},
		"only ends like the domain":           {"hosts: ['*.example.com']", "http://badexample.com", false},
		"services stay allowed":               {"hosts: ['*.example.com']", "http://shortener", true},
		"everything":                          {"hosts: ['*'], cidrs: [0.0.0.0/0, '::/0']", "http://example.com", true},
		"everything holds for addresses too":  {"hosts: ['*'], cidrs: [0.0.0.0/0, '::/0']", "http://192.0.2.1", true},
		"exact address":                       {"cidrs: [192.0.2.1]", "http://192.0.2.1:80", true},
		"another address":                     {"cidrs: [192.0.2.1, '2001:db8::1']", "http://192.0.2.2", false},
		"exact IPv6 address":                  {"cidrs: ['2001:DB8::1']", "http://[2001:db8::1]", true},
		"a pattern that spells IPv4 as IPv6":  {"cidrs: ['::ffff:192.0.2.1']", "http://192.0.2.1", true},
		"a pattern in full and in upper case": {"hosts: [API.Example.com.]", "http://api.example.com", true},
		"a domain in upper case":              {"hosts: ['*.Example.com']", "http://api.example.com", true},
		"range":                               {"cidrs: [192.0.2.0/24]", "http://192.0.2.77", true},
		"outside the range":                   {"cidrs: [192.0.2.0/24]", "http://192.0.3.77", false},
		"IPv4 spelled as IPv6 in the range":   {"cidrs: [192.0.2.0/24]", "http://[::ffff:192.0.2.77]", true},
		"IPv6 range":                          {"cidrs: ['2001:db8::/32']", "http://[2001:db8::1]", true},
		"a pattern of names holds no address": {"hosts: ['*.2.1']", "http://192.0.2.1", false},
		"the second pattern":                  {"hosts: [a.example, b.example]", "http://b.example", true},
	} {
		t.Run(name, func(t *testing.T) {
			rules := policy.Default()
			if tc.rule != never {
				p, err := policy.Load([]byte("targets: {rules: [{proxies: true, " + tc.rule + "}]}"))
				must.Succeed(t, err)
				rules = p
			}
			lt := loadTest(oneUser())
			lt.Spec.Target.URL = tc.url
			_, refusal := plan.New(lt, rules.For(lt.Namespace))
			if got := refusal == nil; got != tc.allowed || refusal != nil && refusal.Reason != v1beta1.ReasonTargetNotAllowed {
				t.Errorf("allowed is %t, want %t (%v)", got, tc.allowed, refusal)
			}
		})
	}
}

func oneUser() *v1beta1.LoadTestSpec {
	return withSteps(v1beta1.Step{Name: "1 users", Users: ptr(int32(1)), Duration: duration(time.Second)})
}

// yamlSpec is a spec of a user who sends requests to http://shortener:8080 for a second, but for
// the fields that it gives.
func yamlSpec(t *testing.T, fields string) *v1beta1.LoadTestSpec {
	t.Helper()
	var s v1beta1.LoadTestSpec
	if err := yaml.UnmarshalStrict([]byte(fields), &s); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	if s.Target.URL == "" && s.Target.Service == nil {
		s.Target.URL = "http://shortener:8080"
	}
	if s.Requests == nil {
		s.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}}
	}
	if s.Steps == nil {
		s.Steps = []v1beta1.Step{{Name: "1 users", Users: ptr(int32(1)), Duration: duration(time.Second)}}
	}
	return &s
}

func TestRefusals(t *testing.T) {
	const (
		invalid    = "InvalidSpec: "
		share      = ".sampled: must be a percentage above 0% and up to 100%, such as 1%."
		notAllowed = "TargetNotAllowed: spec.target.url: host example.com is not allowed; use a Service of this cluster, or ask the administrator to add example.com to targets.rules of the operator's configuration."
		noProxy    = invalid + "spec.target.proxy.url: must be http:// with a host, without credentials and without a path, for example http://proxy:3128."
		noURL      = invalid + "spec.target.url: must be http:// or https:// with a host, for example http://shortener:8080."
	)
	saying := func(format string) func(...any) string {
		return func(args ...any) string { return fmt.Sprintf(format, args...) }
	}
	proxyRefused := saying("TargetNotAllowed: spec.target.proxy.url: host %s is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration.")
	sendsNothing := saying(invalid + "spec: step %s sends nothing; set its users or rate, and its duration or requestsPerUser.")
	tooFast := saying(invalid + "spec: the users of step %s users send more than 1000000000 requests per second together; lower users or ratePerUser.")
	noThink := saying(invalid + "%s: %s is no range: it must have two times from 0s to 1h, of which max is from 1ms and not below min.")
	thinksTooLong := saying(invalid + "spec.steps[0].think: a user who sends %s requests may think for an hour or more, but a step with requestsPerUser may take an hour at most; lower think or requestsPerUser.")
	noScalar := saying(invalid + "%s.expect.json[1].equals: must be a string, a number, true, false or null; name a value inside an object or a list by path.")
	for name, tc := range map[string]struct {
		spec string
		want string // "": accepted
	}{
		"nothing is wrong":                        {``, ""},
		"a service needs no permission":           {`target: {service: {name: shortener}}`, ""},
		"all requests are traced":                 {`target: {url: "http://a", trace: {sampled: 100%}}`, ""},
		"more than all":                           {`target: {url: "http://a", trace: {sampled: 100.000001%}}`, invalid + "spec.target.trace" + share},
		"a share that is invalid":                 {`target: {url: "http://a", trace: {sampled: 0%}}`, invalid + "spec.target.trace" + share},
		"a share that is no text":                 {`target: {url: "http://a", trace: {sampled: some}}`, invalid + "spec.target.trace" + share},
		"host not allowed":                        {`target: {url: "https://example.com"}`, notAllowed},
		"host not allowed behind a proxy":         {`target: {url: "https://example.com", proxy: {url: "http://proxy:3128"}}`, notAllowed},
		"proxy not allowed":                       {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://proxy.example.com:3128"}}`, proxyRefused("proxy.example.com")},
		"proxy of the cluster":                    {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://proxy.tools.svc:3128/"}}`, proxyRefused("proxy.tools.svc")},
		"proxy not allowed for a service":         {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://192.0.2.1"}}`, proxyRefused("192.0.2.1")},
		"proxy over https":                        {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "https://proxy:3128"}}`, noProxy},
		"proxy with a password":                   {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://me:secret@proxy:3128"}}`, noProxy},
		"proxy with a path":                       {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://proxy:3128/x"}}`, noProxy},
		"proxy that is no address":                {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "proxy:3128"}}`, noProxy},
		"proxy without a host":                    {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://:3128"}}`, noProxy},
		"proxy that is no URL":                    {`target: {url: "http://a.demo.svc.cluster.local", proxy: {url: "http://pro xy:3128"}}`, noProxy},
		"no URL":                                  {`target: {url: "http://short ener"}`, noURL},
		"no host":                                 {`target: {url: "http://"}`, noURL},
		"another scheme":                          {`target: {url: "ftp://shortener"}`, noURL},
		"port 0":                                  {`target: {url: "http://shortener:0"}`, invalid + `spec.target.url: port 0 must be between 1 and 65535.`},
		"port out of bounds":                      {`target: {url: "http://shortener:70000"}`, invalid + `spec.target.url: port 70000 must be between 1 and 65535.`},
		"template in the host":                    {`target: {url: "http://$user"}`, invalid + `spec.target.url: $user is neither a host name nor an address.`},
		"address with a zone":                     {`target: {url: "http://[fe80::1%25eth0]"}`, invalid + `spec.target.url: fe80::1%eth0 is neither a host name nor an address.`},
		"no request":                              {`requests: []`, invalid + `spec.requests: at least one request must be set.`},
		"only a pause":                            {`steps: [{name: pause 1s, pause: 1s}]`, invalid + `spec: at least one step must send load; set ladder, steps, search or replay.`},
		"a threshold of a step":                   {`{steps: [{name: peak, users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, steps: [peak]}]}`, ""},
		"a threshold of a step that is not there": {`{steps: [{name: peak, users: 1, duration: 1s}, {name: rest, pause: 1s}, {name: recovery, users: 1, duration: 1s}], thresholds: [{metric: p95, max: 1s, steps: [peak, pick]}]}`, invalid + `spec.thresholds[0].steps: "pick" is no step that sends load; such steps are peak, recovery.`},
		"a threshold of a pause":                  {`{steps: [{name: 1 users, users: 1, duration: 1s}, {name: rest, pause: 1s}], thresholds: [{metric: p95, max: 1s}, {metric: p95, max: 1s, steps: [rest]}]}`, invalid + `spec.thresholds[1].steps: "rest" is no step that sends load; such steps are 1 users.`},
		"a threshold of a rung of a long ladder":  {`{steps: null, ladder: {users: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], duration: 1s}, thresholds: [{metric: p95, max: 1s, steps: ["11"]}]}`, invalid + `spec.thresholds[0].steps: "11" is no step that sends load; such steps are 1, 2, 3, 4, 5, 6, 7, 8 and 2 more.`},
		"a pause after the load":                  {`steps: [{name: 1 users, users: 1, duration: 1s}, {name: pause 1s, pause: 1s}]`, ""},
		"a pause of nothing":                      {`steps: [{name: 1 users, users: 1, duration: 1s}, {name: pause 0s, pause: 0s}]`, sendsNothing("pause 0s")},
		"no users for a while":                    {`steps: [{name: 0 users, users: 0, duration: 1s}]`, sendsNothing("0 users")},
		"fewer users than none":                   {`steps: [{name: steady, users: -5, ratePerUser: 1, duration: 1s}]`, sendsNothing("steady")},
		"arrivals that end before they begin":     {`steps: [{name: 999999999.999999/s, rate: "999999999.999999", duration: -1s}]`, sendsNothing("999999999.999999/s")},
		"a step of nothing":                       {`steps: [{name: empty}]`, sendsNothing("empty")},
		"users without an end":                    {`steps: [{name: 5 users, users: 5}]`, sendsNothing("5 users")},
		"a rate that is no number":                {`steps: [{name: pause 1ns, pause: 1ns}, {name: steady, rate: fast, duration: 1s}]`, invalid + `spec.steps[1].rate: "fast" is not a decimal number such as 0.5.`},
		"a ramp to nothing":                       {`steps: [{name: 1/s to 0/s, rate: 1, rampTo: 0, duration: 1s}]`, invalid + `spec.steps[0].rampTo: must be greater than 0.`},
		"random arrivals have no total, but send": {`steps: [{name: 1/s, rate: 1, arrivals: Poisson, duration: 1s}]`, ""},
		"random arrivals without an end":          {`steps: [{name: 1/s, rate: 1, arrivals: Poisson}]`, sendsNothing("1/s")},
		"a fill of a request that is there":       {`{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1}}}`, ""},
		"a fill of a request that is not there":   {`setup: {fill: {count: 1}}`, invalid + `spec.setup.fill.request: spec.requests has no request named "".`},
		"a warm-up of a request that is not there, after a fill of one that is": {`{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1}, warmUp: {request: follow}}}`, invalid + `spec.setup.warmUp.request: spec.requests has no request named "follow".`},
		"a rate of nothing":                                 {`steps: [{name: 1 users, users: 1, ratePerUser: "0.0", duration: 1s}]`, invalid + `spec.steps[0].ratePerUser: must be greater than 0.`},
		"a ramp of users":                                   {`steps: [{name: 1 to 1000000 users, users: 1, rampTo: 1000000, duration: 1s}]`, ""},
		"a ramp to half a user":                             {`steps: [{name: 1 to 2.5 users, users: 1, rampTo: "2.5", duration: 1s}]`, invalid + `spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000.`},
		"a ramp to more users than there may be":            {`steps: [{name: 1 to 1000001 users, users: 1, rampTo: 1000001, duration: 1s}]`, invalid + `spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000.`},
		"a ramp of a burst":                                 {`steps: [{name: 1 users x 2, users: 1, rampTo: 2, requestsPerUser: 2}]`, invalid + `spec.steps[0].rampTo: must not be set with requestsPerUser, whose users begin together.`},
		"a ramp that becomes too fast":                      {`steps: [{name: 1 to 1000000 users, users: 1, rampTo: 1000000, ratePerUser: 1001, duration: 1s}]`, tooFast("1 to 1000000")},
		"think times":                                       {`steps: [{name: 1 users, users: 1, think: {min: 1s, max: 3s}, duration: 1s}, {name: 1 users x 60, users: 1, requestsPerUser: 60, think: {min: 1m, max: 1m}}]`, ""},
		"a think time that is none":                         {`steps: [{name: 1 users, users: 1, think: {min: 3s, max: 1s}, duration: 1s}]`, noThink("spec.steps[0].think", "3s to 1s")},
		"a ladder's think time that is none":                {`ladder: {think: {min: 0s, max: 0s}}`, noThink("spec.ladder.think", "0s to 0s")},
		"a search's think time that is none":                {`search: {think: {min: 2h, max: 2h}}`, noThink("spec.search.think", "2h0m0s to 2h0m0s")},
		"think times that no burst has time for":            {`steps: [{name: 1 users x 61, users: 1, requestsPerUser: 61, think: {min: 1s, max: 1m}}]`, thinksTooLong("61")},
		"think times that overflow":                         {`steps: [{name: 1 users x 1000000000, users: 1, requestsPerUser: 1000000000, think: {min: 1h, max: 1h}}]`, thinksTooLong("1000000000")},
		"a ladder's rate that is no number":                 {`ladder: {ratePerUser: 1/2}`, invalid + `spec.ladder.ratePerUser: "1/2" is not a decimal number such as 0.5.`},
		"a ladder's rate of nothing":                        {`ladder: {rates: [1, 0]}`, invalid + `spec.ladder.rates[1]: must be greater than 0.`},
		"no weight at all":                                  {`requests: [{name: home, weight: 0, http: {}}]`, invalid + `spec.requests: at least one request must have a weight above 0.`},
		"an object that is expected":                        {`requests: [{name: home, http: {}, expect: {json: [{path: .a}, {path: .b, equals: {a: 1}}]}}]`, noScalar("spec.requests[0]")},
		"a list that a preflight expects":                   {`preflight: [{}, {expect: {json: [{path: .a}, {path: .b, equals: [1]}]}}]`, noScalar("spec.preflight[1]")},
		"a text that is expected, too long":                 {`requests: [{name: home, http: {}, expect: {json: [{path: .a}, {path: .b, equals: "` + strings.Repeat("x", 1023) + `"}]}}]`, invalid + `spec.requests[0].expect.json[1].equals: must have at most 1024 bytes.`},
		"a text that just fits":                             {`requests: [{name: home, http: {}, expect: {json: [{path: .a}, {path: .b, equals: "` + strings.Repeat("x", 1022) + `"}]}}]`, ""},
		"a contract without refill":                         {`audits: [{name: contract, rateLimit: {capacity: 1, refillPerSecond: 0}}]`, invalid + `spec.audits[0].rateLimit.refillPerSecond: must be greater than 0.`},
		"a contract without refill, beside a ladder's rate": {`{steps: [], ladder: {users: [1], ratePerUser: 1, duration: 1s}, audits: [{name: contract, rateLimit: {capacity: 1, refillPerSecond: 0}}]}`, invalid + `spec.audits[0].rateLimit.refillPerSecond: must be greater than 0.`},
		"the least share":                                   {`target: {url: "http://a", trace: {sampled: 0.000001%}}`, ""},
		"host not allowed, beside a control that is":        {`{target: {url: "https://example.com"}, otherTargets: [{name: b, url: "http://b"}], versus: {target: b}}`, notAllowed},
		"no users with a rate":                              {`steps: [{name: 0 users, users: 0, ratePerUser: 1, duration: 1s}]`, sendsNothing("0 users")},
		"a duration alone":                                  {`steps: [{name: steady, duration: 1s}]`, sendsNothing("steady")},
		"requests of no user":                               {`steps: [{name: steady, requestsPerUser: 2}]`, sendsNothing("steady")},
		"a ramp from no users":                              {`steps: [{name: 0 to 5 users, users: 0, rampTo: 5, ratePerUser: 1, duration: 1s}]`, sendsNothing("0 to 5 users")},
		"a ramp of a rate to a fraction":                    {`steps: [{name: 1/s to 2.5/s, rate: 1, rampTo: "2.5", duration: 1s}]`, ""},
		"a think time that is none, beside a ladder's":      {`{ladder: {think: {min: 1s, max: 1s}}, steps: [{name: 1 users, users: 1, think: {min: 3s, max: 1s}, duration: 1s}]}`, noThink("spec.steps[0].think", "3s to 1s")},
		"a think time that is none, beside a search's":      {`{search: {think: {min: 1s, max: 1s}}, steps: [{name: 1 users, users: 1, think: {min: 3s, max: 1s}, duration: 1s}]}`, noThink("spec.steps[0].think", "3s to 1s")},
		"a search of which the greatest load is too fast":   {`{steps: [], search: {users: {min: 1, max: 1000000}, ratePerUser: 1001, duration: 1s}}`, tooFast("1000000")},
		"a search's rate of nothing":                        {`{steps: [], search: {users: {min: 1, max: 2}, ratePerUser: 0, duration: 1s}}`, invalid + "spec.search.ratePerUser: must be greater than 0."},
		"a hold of one probe":                               {`{steps: [], search: {users: {min: 1, max: 2}, duration: 1s, hold: 1s}}`, ""},
		"a journey without data of a user":                  {`{requests: [{name: look, http: {}}], journeys: [{name: a, steps: [{request: look}]}]}`, ""},
		"the second journey":                                {`{requests: [{name: look, http: {}}], journeys: [{name: a, steps: [{request: look}]}, {name: b, steps: [{request: buy}]}]}`, invalid + `spec.journeys[1].steps[0].request: spec.requests has no request named "buy".`},
		"a product just in bounds":                          {`steps: [{name: 1000000 users, users: 1000000, ratePerUser: 1000, duration: 1s}]`, ""},
		"a product out of bounds":                           {`steps: [{name: 1000000 users, users: 1000000, ratePerUser: 999999999, duration: 1s}]`, tooFast("1000000")},
		"a product just out of bounds":                      {`steps: [{name: 1000000 users, users: 1000000, ratePerUser: "1000.000001", duration: 1s}]`, tooFast("1000000")},
		"a product of more than 63 bits":                    {`steps: [{name: 10000 users, users: 10000, ratePerUser: 999999999, duration: 1s}]`, tooFast("10000")},
		"a product of 2^64, whose rest is 0":                {`steps: [{name: 524288 users, users: 524288, ratePerUser: "35184372.088832", duration: 1s}]`, tooFast("524288")},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, refusal := plan.New(loadTest(yamlSpec(t, tc.spec)), policy.Rules{}); refusal != nil {
				got = refusal.Reason + ": " + refusal.Message
			}
			same.As(t, "refusal", tc.want, got)
		})
	}
}

// What a Service is called depends on the namespace. Behind a proxy, url has to say it in full.
func TestAServiceBehindAProxyIsNamedInFull(t *testing.T) {
	p, err := policy.Load([]byte("targets: {rules: [{hosts: [proxy.example.com], proxies: true}]}"))
	must.Succeed(t, err)
	for target, want := range map[string]string{
		"service: {name: wiki}":                     "spec.target.service: host wiki is not",
		"url: 'http://wiki'":                        "spec.target.url: host wiki is not",
		"url: 'http://wiki.demo.svc.cluster.local'": "",
	} {
		lt := loadTest(yamlSpec(t, "{target: {"+target+", proxy: {url: 'http://proxy.example.com:3128'}}}"))
		_, refusal := plan.New(lt, p.For("demo"))
		if want == "" && refusal != nil || want != "" && (refusal == nil || !strings.HasPrefix(refusal.Message, want) || !strings.HasSuffix(refusal.Message, "host wiki.demo.svc.cluster.local.")) {
			t.Errorf("%s: %v", target, refusal)
		}
	}
}

// A key that no label can have would select nothing, or something else than is written.
func TestSelectorHasKeysOfLabels(t *testing.T) {
	for key, want := range map[string]string{
		"app": "", "example.com/branch": "",
		"app,b": `spec.baseline.selector: "app,b" cannot be the key of a label: `,
		"":      `spec.baseline.selector: "" cannot be the key of a label: `,
	} {
		lt := &v1beta1.LoadTest{Spec: *oneUser()}
		lt.Spec.Baseline = &v1beta1.Baseline{Selector: map[string]v1beta1.LabelValue{key: "x"}}
		_, refusal := plan.New(lt, policy.Everything())
		if (refusal == nil) != (want == "") || refusal != nil && !strings.HasPrefix(refusal.Message, want) {
			t.Errorf("key %q: %v, want %q", key, refusal, want)
		}
	}
}
