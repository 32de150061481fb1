package policy_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const someRules = `
targets:
  never: [10.99.0.0/16, "64:ff9b::a62:0/112", "::ffff:10.97.0.0/112"] # 10.98.0.0/16 as NAT64 spells it, and 10.97.0.0/16
  rules:
    - {hosts: ["*.example.com"], cidrs: [10.20.0.0/16], ports: ["443", "8000-8999"]}
    - {namespaces: [team-a], hosts: [gateway.infra.svc, full.infra.svc.cluster.local]}
    - {hosts: ["*", one.example.net], ports: ["3128"], proxies: true}
    - {hosts: ["*"], cidrs: [10.96.0.0/16], ports: ["3129"]}
    - {hosts: [squid.infra.svc, proxy.example.org], proxies: true}
    - {cidrs: [10.0.0.0/8, 8.8.8.8]}
`

func judge(t *testing.T, at string, isProxy bool, f policy.Facts) policy.Judgement {
	t.Helper()
	p := load(t, someRules)
	u, err := url.Parse(at)
	must.Succeed(t, err)
	targets := p.For("team-a").Targets
	place := targets.Place(u)
	place.IsProxy = isProxy
	return targets.Judge(place, f)
}

// service is one with an address of its own and a pod behind it.
func service(edits ...func(*policy.Service)) *policy.Service {
	s := &policy.Service{
		Type: "ClusterIP", HasSelector: true, Addresses: []netip.Addr{netip.MustParseAddr("10.96.0.5")},
		Ports:     []policy.Port{{Number: 80, Name: "http"}},
		Endpoints: []policy.Endpoint{{Slice: "api-x", Address: "10.1.0.7", Kind: "Pod", Namespace: "team-a", Name: "api-0"}},
		Pods:      map[string]policy.Pod{"api-0": {Addresses: []string{"10.1.0.7"}}},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func TestServicesAreJudgedByWhatIsBehindThem(t *testing.T) {
	headless := func(s *policy.Service) { s.Addresses = nil }
	endpoint := func(e policy.Endpoint) func(*policy.Service) {
		return func(s *policy.Service) { s.Endpoints = append(s.Endpoints, e) }
	}
	pod := func(p policy.Pod) func(*policy.Service) { return func(s *policy.Service) { s.Pods["api-0"] = p } }
	at := func(a string) func(*policy.Service) {
		return func(s *policy.Service) { s.Addresses = []netip.Addr{netip.MustParseAddr(a)} }
	}
	of := func(namespace string) func(*policy.Service) {
		return func(s *policy.Service) { s.Endpoints[0].Namespace = namespace }
	}
	for name, tc := range map[string]struct {
		url     string
		isProxy bool
		facts   policy.Facts
		refusal string
		problem string
		allowed string
	}{
		"own":                         {url: "http://api", facts: policy.Facts{Service: service()}, allowed: "10.96.0.5:80"},
		"own, absolute":               {url: "http://api.team-a.svc.cluster.local.", facts: policy.Facts{Service: service()}, allowed: "10.96.0.5:80"},
		"not there":                   {url: "http://api", problem: "Service api does not exist."},
		"another's that is not there": {url: "http://api.team-b.svc", refusal: "Service api of namespace team-b does not exist, or its namespace does not accept load from others;"},
		"not there, by a rule":        {url: "http://gateway.infra.svc", problem: "Service gateway of namespace infra does not exist."},
		"not there, and accepts load": {url: "http://api.team-b.svc", facts: policy.Facts{AcceptsLoad: true}, problem: "Service api of namespace team-b does not exist."},
		"no such port":                {url: "http://api:81", facts: policy.Facts{Service: service()}, problem: "Service api has no port 81; its ports: 80 http."},
		"not read":                    {url: "http://api", facts: policy.Facts{Unreadable: "It may not be read."}, problem: "It may not be read."},
		"headless":                    {url: "http://api:8080", facts: policy.Facts{Service: service(headless)}, allowed: "10.1.0.7:8080"},
		"headless, a foreign pod":     {url: "http://api:8080", facts: policy.Facts{Service: service(headless, endpoint(policy.Endpoint{Slice: "mine", Address: "10.1.0.9", Kind: "Pod", Namespace: "team-a", Name: "api-1"}))}, allowed: "10.1.0.7:8080"},
		"another's":                   {url: "http://api.team-b.svc", facts: policy.Facts{Service: service(of("team-b"))}, refusal: "Service api of namespace team-b does not exist, or its namespace does not accept load from others; ask its owner to label namespace team-b with loadtest.dev/accepts-load=true."},
		"another's that accepts load": {url: "http://api.team-b.svc", facts: policy.Facts{Service: service(of("team-b")), AcceptsLoad: true}, allowed: "10.96.0.5:80"},
		"another's by a rule":         {url: "http://gateway.infra.svc", facts: policy.Facts{Service: service(of("infra"))}, allowed: "10.96.0.5:80"},
		"another's by its whole name": {url: "http://full.infra.svc", facts: policy.Facts{Service: service(of("infra"))}, allowed: "10.96.0.5:80"},
		"another's by its address":    {url: "http://api.team-b.svc:3129", facts: policy.Facts{Service: service(of("team-b"))}, problem: "Service api of namespace team-b has no port 3129; its ports: 80 http."},
		"another's by no address":     {url: "http://api.team-b.svc:3129", facts: policy.Facts{Service: service(of("team-b"), headless)}, refusal: "does not accept load from others"},
		"another's by a rule for all": {url: "http://api.team-b.svc:3128", facts: policy.Facts{Service: service(of("team-b"))}, refusal: "does not accept load from others"},
		"a proxy by a rule for all":   {url: "http://api:3128", isProxy: true, facts: policy.Facts{Service: service(), AcceptsLoad: true}, refusal: "Service api is not allowed as a proxy; ask the administrator to add it"},
		"at a port of nodes":          {url: "http://api:10250", facts: policy.Facts{Service: service()}, problem: "Service api has no port 10250; its ports: 80 http."},
		"at an excepted address":      {url: "http://api", facts: policy.Facts{Service: service(at("10.99.0.7"))}, refusal: "address 10.99.0.7 of Service api can never be a target."},
		"at metadata":                 {url: "http://api", facts: policy.Facts{Service: service(at("169.254.169.254"))}, refusal: "address 169.254.169.254 of Service api can never be a target."},
		"headless, a pod twice":       {url: "http://api:8080", facts: policy.Facts{Service: service(headless, endpoint(policy.Endpoint{Slice: "api-y", Address: "10.1.0.7", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, allowed: "10.1.0.7:8080"},
		"an endpoint of a node":       {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.0.0.1", Kind: "Node", Namespace: "team-a", Name: "api-0"}))}, refusal: "which is not a pod"},
		"an endpoint without a name":  {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.0.0.1", Kind: "Pod", Namespace: "team-a"}))}, refusal: "which is not a pod"},
		"excepted, spelled as IPv6":   {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "::ffff:10.99.0.1", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, refusal: "the administrator excludes"},
		"ExternalName":                {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.Type = "ExternalName" })}, refusal: "is of type ExternalName"},
		"the API server":              {url: "https://kubernetes.default.svc", facts: policy.Facts{AcceptsLoad: true, Service: service(func(s *policy.Service) { s.HasSelector = false })}, refusal: "host kubernetes.default.svc is not allowed: it names the worker itself, the API server"},
		"no selector":                 {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.HasSelector = false })}, refusal: "has no spec.selector"},
		"an endpoint by hand":         {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.0.0.1"}))}, refusal: "EndpointSlice mine of Service api sends to 10.0.0.1, which is not a pod; remove the EndpointSlice."},
		"an endpoint of another":      {url: "http://api", facts: policy.Facts{Service: service(of("team-b"))}, refusal: "which is not a pod"},
		"an endpoint that is a name":  {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "example.com", Kind: "Pod", Namespace: "team-a", Name: "x"}))}, refusal: "which is not a pod"},
		"an endpoint at metadata":     {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "169.254.169.254", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, refusal: "a link-local address"},
		"a pod on the host":           {url: "http://api", facts: policy.Facts{Service: service(pod(policy.Pod{Addresses: []string{"10.1.0.7"}, OnHost: true}))}, refusal: "the address of the node of pod api-0"},
		"a pod of the operator":       {url: "http://api", facts: policy.Facts{Service: service(pod(policy.Pod{Addresses: []string{"10.1.0.7"}, OfOperator: true}))}, refusal: "a pod of the operator"},
		"a pod in an excepted range":  {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.99.0.1", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, refusal: "the administrator excludes"},
		"too many":                    {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.TooMany = true })}, refusal: "more endpoints or pods than the operator checks"},
		"own as a proxy":              {url: "http://api", isProxy: true, facts: policy.Facts{Service: service(), AcceptsLoad: true}, refusal: "host api is not allowed as a proxy"},
		"a proxy by a rule":           {url: "http://squid.infra.svc:80", isProxy: true, facts: policy.Facts{Service: service(of("infra"))}, allowed: "10.96.0.5:80"},
		"a target that is a proxy":    {url: "http://gateway.infra.svc", isProxy: true, facts: policy.Facts{Service: service(of("infra"))}, refusal: "not allowed as a proxy"},
		"a name, not absolute":        {url: "http://api.team-b", refusal: "host api.team-b is not allowed"},
		"localhost":                   {url: "http://localhost", refusal: "the worker itself"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(t, tc.url, tc.isProxy, tc.facts)
			if (got.Refusal == "") != (tc.refusal == "") || !strings.Contains(got.Refusal, tc.refusal) {
				t.Errorf("refusal %q, want %q", got.Refusal, tc.refusal)
			}
			same.As(t, "problem", tc.problem, got.Problem)
			if tc.allowed == "" {
				return
			}
			p := address.Policy{Allowed: got.Allowed, Denied: got.Denied}
			if err := p.Check(netip.MustParseAddrPort(tc.allowed)); err != nil || len(got.Allowed) != 1 || got.Pods != strings.HasPrefix(name, "headless") {
				t.Errorf("%s: %v; allowed %v, pods: %t", tc.allowed, err, got.Allowed, got.Pods)
			}
		})
	}
}

// A Service is the one that was allowed as long as it has the same UID.
func TestWhetherAServiceIsGone(t *testing.T) {
	p := load(t, someRules)
	targets := p.For("team-a").Targets
	for name, tc := range map[string]struct{ at, found, want string }{
		"the same":            {"http://api", "1", ""},
		"another of its name": {"http://api", "2", "Service api was replaced by another of its name while the run went on."},
		"deleted":             {"http://api.team-b.svc", "", "Service api of namespace team-b was deleted while the run went on."},
	} {
		u, err := url.Parse(tc.at)
		must.Succeed(t, err)
		same.As(t, name+": what is gone", tc.want, targets.Gone(targets.Place(u), tc.found, "1"))
	}
}

func TestHostsLeadToWhatTheRulesAllow(t *testing.T) {
	never := policy.Facts{Never: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("8.8.4.4")}}
	for at, want := range map[string]struct {
		refusal    string
		permitted  []string
		prohibited []string
	}{
		"https://api.example.com":     {permitted: []string{"1.1.1.1:443", "10.20.3.4:443"}, prohibited: []string{"10.21.0.1:443", "1.1.1.1:80", "8.8.4.4:443", "10.96.0.1:443", "127.0.0.1:443"}},
		"http://api.example.com:8080": {permitted: []string{"1.1.1.1:8080"}, prohibited: []string{"1.1.1.1:443"}},
		"http://api.example.com":      {refusal: "host api.example.com is not allowed"},
		"http://example.com:443":      {refusal: "not allowed"},
		"http://10.7.7.7:5000":        {permitted: []string{"10.7.7.7:5000"}, prohibited: []string{"10.7.7.8:5000", "10.7.7.7:80"}},
		"http://[::ffff:10.7.7.7]":    {permitted: []string{"10.7.7.7:80", "[::ffff:10.7.7.7]:80"}},
		"https://10.0.0.1:8443":       {refusal: "belongs to a node, the API server, the operator"},
		"https://10.20.0.1:10250":     {refusal: "not allowed at port 10250: it belongs to nodes"},
		"http://metadata.goog:8080":   {refusal: "a metadata service"},
		"http://a.localhost:8080":     {refusal: "the worker itself"},
		"http://10.99.1.1":            {refusal: "the administrator excludes"},
		"http://10.98.1.1":            {refusal: "the administrator excludes"},
		"http://10.97.1.1":            {refusal: "the administrator excludes"},
		"http://8.8.8.8":              {permitted: []string{"8.8.8.8:80"}, prohibited: []string{"8.8.8.9:80"}},
		"http://9.9.9.9":              {refusal: "not allowed; use a Service"},
		"http://9.9.9.9:3128":         {permitted: []string{"9.9.9.9:3128"}},
		"http://192.168.1.1:3128":     {refusal: "not allowed; use a Service"},
		"http://a.example.net:3128":   {permitted: []string{"1.1.1.1:3128"}},
		"http://api.example.com:9000": {refusal: "not allowed"},
		"http://a.proxy.example.org":  {refusal: "not allowed"},
		"http://169.254.169.254":      {refusal: "a link-local address, which can never be a target"},
		"http://[64:ff9b::a9fe:a9fe]": {refusal: "a link-local address"},
		"http://168.63.129.16":        {refusal: "a metadata service's address"},
	} {
		got := judge(t, at, false, never)
		if (got.Refusal == "") != (want.refusal == "") || !strings.Contains(got.Refusal, want.refusal) {
			t.Errorf("%s: refusal %q, want %q", at, got.Refusal, want.refusal)
		}
		p := address.Policy{Allowed: got.Allowed, Denied: got.Denied}
		for _, to := range want.permitted {
			if err := p.Check(netip.MustParseAddrPort(to)); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		for _, to := range want.prohibited {
			if p.Check(netip.MustParseAddrPort(to)) == nil {
				t.Errorf("%s leads to %s", at, to)
			}
		}
	}
}

// An endpoint whose pod is not there, or has another address, is not confirmed.
func TestEndpointsAreConfirmedByTheirPods(t *testing.T) {
	targets := policy.Default().For("team-a").Targets
	place := policy.Place{Service: "api", Namespace: "team-a"}
	const wrong = "EndpointSlice api-x of Service api sends to 10.1.0.7, an address that no selected pod named api-0 has; remove the EndpointSlice."
	for want, s := range map[string][]*policy.Service{
		"":    {nil, service()},
		wrong: {service(func(s *policy.Service) { s.Pods = nil }), service(func(s *policy.Service) { s.Pods["api-0"] = policy.Pod{Addresses: []string{"10.1.0.8"}} })},
	} {
		for _, of := range s {
			got := ""
			for _, e := range (policy.Facts{Service: of}).Unconfirmed() {
				got += targets.Doubt(place, e)
			}
			same.As(t, "what is not confirmed", want, got)
		}
	}
}

func TestPlaces(t *testing.T) {
	for at, want := range map[string]policy.Place{
		"http://API":                           {Host: "api", Port: 80, Service: "api", Namespace: "team-a", Name: "api.team-a.svc.corp.example."},
		"https://api.team-b.svc":               {Host: "api.team-b.svc", Port: 443, Service: "api", Namespace: "team-b", Name: "api.team-b.svc.corp.example."},
		"http://0.api.team-b.svc.corp.example": {Host: "0.api.team-b.svc.corp.example", Port: 80, Service: "api", Namespace: "team-b", Name: "0.api.team-b.svc.corp.example."},
		"http://a.0.api.team-b.svc":            {Host: "a.0.api.team-b.svc", Port: 80, Name: "a.0.api.team-b.svc."},
		"http://team-b.svc":                    {Host: "team-b.svc", Port: 80, Name: "team-b.svc."},
		"http://localhost:8080":                {Host: "localhost", Port: 8080, Name: "localhost."},
		"http://10.0.0.1":                      {Host: "10.0.0.1", Port: 80},
	} {
		u, err := url.Parse(at)
		must.Succeed(t, err)
		if got := rulesOf(t, "targets: {clusterDomain: Corp.Example.}").Targets.Place(u); got != want {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
	if policy.Default().For("default").Targets.Allows("kubernetes") || !policy.Everything().Targets.Allows("169.254.169.254") {
		t.Error("the API server by its short name is a target, or something is none on a laptop")
	}
}

func TestRangesOfAddresses(t *testing.T) {
	for cidr, hosts := range map[string]map[string]bool{
		"2001:db8::/120":   {"2001:db8::7": true, "2001:db8::107": false},
		"::ffff:0:0/96":    {"9.9.9.9": true, "2001:db8::7": false},
		"::ffff:9.9.0/112": nil,
		"::ffff:0:0/95":    {"9.9.9.9": false, "::fffe:909:909": true},
		"fe80::1%eth0":     nil,
	} {
		p, err := policy.Load([]byte(`targets: {rules: [{cidrs: ["` + cidr + `"]}]}`))
		if (err != nil) != (hosts == nil) {
			t.Errorf("%s: %v", cidr, err)
		}
		for host, want := range hosts {
			if got := p.For("a").Targets.Refusal(policy.Place{Host: host, Port: 80}) == ""; got != want {
				t.Errorf("%s has %s: %t", cidr, host, got)
			}
		}
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]bool{"a.example": true, "10.0.0.1": true, "2001:db8::7": true, "fe80::1%eth0": false, "a b": false, "": false} {
		if got := policy.IsHost(host); got != want {
			t.Errorf("%q is a host: %t", host, got)
		}
	}
}

// What a run's status holds of the rules is bounded.
func TestRulesAreBounded(t *testing.T) {
	rules := func(n, ranges int) string {
		one := "{cidrs: [" + strings.Repeat("10.0.0.0/8, ", ranges/n) + "]}, "
		return "targets: {rules: [" + strings.Repeat(one, n) + "]}"
	}
	load(t, rules(64, 256))
	for document, want := range map[string]string{
		rules(65, 65): "targets.rules: has 65 rules; at most 64 are allowed", rules(1, 257): "targets.rules[0].cidrs: the rules together have more than 256 ranges",
	} {
		refused(t, document, want)
	}
}

func TestRulesThatMeanNothing(t *testing.T) {
	for document, want := range map[string]string{
		`{hosts: [10.0.0.1]}`:                   `targets.rules[0].hosts: "10.0.0.1" is an address; put it into cidrs`,
		`{hosts: ["a.*.com"]}`:                  `targets.rules[0].hosts: "a.*.com" must be a host, *.domain or *`,
		`{cidrs: [example.com]}`:                `targets.rules[0].cidrs: "example.com" must be a range of addresses`,
		`{hosts: ["*"], ports: ["0"]}`:          `targets.rules[0].ports: "0" must be a port`,
		`{hosts: ["*"], ports: ["1", "70000"]}`: `targets.rules[0].ports: "70000" must be a port`,
		`{hosts: ["*"], ports: ["1-70000"]}`:    `targets.rules[0].ports: "1-70000" must be a port`,
		`{hosts: ["*"], ports: ["9-8"]}`:        `targets.rules[0].ports: "9-8" must be a port`,
		`{namespaces: [a]}`:                     `targets.rules[0]: must have hosts or cidrs`,
		`{hosts: [""]}`:                         `targets.rules[0].hosts: "" must be a host`,
		`{hosts: ["*example.com"]}`:             `targets.rules[0].hosts: "*example.com" must be a host`,
		`{hosts: ["http://example.com"]}`:       `targets.rules[0].hosts: "http://example.com" must be a host`,
		`{hosts: ["example.com:80"]}`:           `targets.rules[0].hosts: "example.com:80" must be a host`,
		`{hosts: ["a b"]}`:                      `targets.rules[0].hosts: "a b" must be a host`,
		`{hosts: ["*."]}`:                       `targets.rules[0].hosts: "*." must be a host`,
		`{hosts: [10.0.0.0/33]}`:                `targets.rules[0].hosts: "10.0.0.0/33" must be a host`,
	} {
		_, err := policy.Load([]byte("targets: {rules: [" + document + "]}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", document, err, want)
		}
	}
}

// Whatever host a rule of all hosts allows, and whatever it leads to, no connection goes to
// an address that is never one's target.
func FuzzPolicy(f *testing.F) {
	f.Add("api.example.com", []byte{169, 254, 169, 254}, uint16(80))
	f.Add("x", []byte{10, 0, 0, 1}, uint16(443))
	p, err := policy.Load([]byte(`targets: {never: [10.99.0.0/16], rules: [{hosts: ["*"], cidrs: ["0.0.0.0/0", "::/0"], proxies: true}]}`))
	must.Succeed(f, err)
	node := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, host string, raw []byte, port uint16) {
		targets := p.For("team-a").Targets
		place := targets.Place(&url.URL{Scheme: "http", Host: host})
		got := targets.Judge(place, policy.Facts{Never: []netip.Addr{node}})
		a, ok := netip.AddrFromSlice(raw)
		if !ok || got.Refusal != "" {
			return
		}
		err := address.Policy{Allowed: got.Allowed, Denied: got.Denied}.Check(netip.AddrPortFrom(a, port))
		plain := address.Plain(a)
		if err == nil && (address.SpecialKind(a) != "" || plain == node || netip.MustParsePrefix("10.99.0.0/16").Contains(plain)) {
			t.Errorf("host %q leads to %v", host, a)
		}
	})
}
