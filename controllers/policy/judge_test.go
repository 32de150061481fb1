package policy_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

const someRules = `
targets:
  never: [10.99.0.0/16, "64:ff9b::a62:0/112", "::ffff:10.97.0.0/112"] # 10.98.0.0/16 as NAT64 spells it, and 10.97.0.0/16
  rules:
    - {hosts: ["*.example.com"], cidrs: [10.20.0.0/16], ports: ["443", "8000-8999"]}
    - {namespaces: [team-a], hosts: [gateway.infra.svc]}
    - {hosts: [squid.infra.svc, proxy.example.org], proxies: true}
    - {cidrs: [10.0.0.0/8, 8.8.8.8]}
`

func judge(t *testing.T, at string, isProxy bool, f policy.Facts) policy.Judgement {
	t.Helper()
	p, err := policy.Load([]byte(someRules))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
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
		"not there":                   {url: "http://api", problem: "Service api is not there."},
		"no such port":                {url: "http://api:81", facts: policy.Facts{Service: service()}, problem: "Service api has no port 81; its ports: 80 http."},
		"not read":                    {url: "http://api", facts: policy.Facts{Unreadable: "It may not be read."}, problem: "It may not be read."},
		"headless":                    {url: "http://api:8080", facts: policy.Facts{Service: service(headless)}, allowed: "10.1.0.7:8080"},
		"headless, a foreign pod":     {url: "http://api:8080", facts: policy.Facts{Service: service(headless, endpoint(policy.Endpoint{Slice: "mine", Address: "10.1.0.9", Kind: "Pod", Namespace: "team-a", Name: "api-1"}))}, allowed: "10.1.0.7:8080"},
		"another's":                   {url: "http://api.team-b.svc", facts: policy.Facts{Service: service(of("team-b"))}, refusal: "Service api of namespace team-b is of a namespace that does not accept load from others; have its owner label namespace team-b with loadtest.dev/accepts-load=true."},
		"another's that accepts load": {url: "http://api.team-b.svc", facts: policy.Facts{Service: service(of("team-b")), AcceptsLoad: true}, allowed: "10.96.0.5:80"},
		"another's by a rule":         {url: "http://gateway.infra.svc", facts: policy.Facts{Service: service(of("infra"))}, allowed: "10.96.0.5:80"},
		"ExternalName":                {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.Type = "ExternalName" })}, refusal: "is of type ExternalName"},
		"the API server":              {url: "https://kubernetes.default.svc", facts: policy.Facts{AcceptsLoad: true, Service: service(func(s *policy.Service) { s.HasSelector = false })}, refusal: "host kubernetes.default.svc is not allowed: it is a name of the worker itself, the API server"},
		"no selector":                 {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.HasSelector = false })}, refusal: "has no spec.selector"},
		"an endpoint by hand":         {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.0.0.1"}))}, refusal: "EndpointSlice mine of Service api sends to 10.0.0.1, which is no pod; remove the EndpointSlice."},
		"an endpoint of another":      {url: "http://api", facts: policy.Facts{Service: service(of("team-b"))}, refusal: "which is no pod"},
		"an endpoint that is a name":  {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "example.com", Kind: "Pod", Namespace: "team-a", Name: "x"}))}, refusal: "which is no pod"},
		"an endpoint at metadata":     {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "169.254.169.254", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, refusal: "a link-local address"},
		"a pod on the host":           {url: "http://api", facts: policy.Facts{Service: service(pod(policy.Pod{Addresses: []string{"10.1.0.7"}, OnHost: true}))}, refusal: "the address of the node of pod api-0"},
		"a pod of the operator":       {url: "http://api", facts: policy.Facts{Service: service(pod(policy.Pod{Addresses: []string{"10.1.0.7"}, OfOperator: true}))}, refusal: "a pod of the operator"},
		"a pod in an excepted range":  {url: "http://api", facts: policy.Facts{Service: service(endpoint(policy.Endpoint{Slice: "mine", Address: "10.99.0.1", Kind: "Pod", Namespace: "team-a", Name: "api-0"}))}, refusal: "the administrator excepts"},
		"too many":                    {url: "http://api", facts: policy.Facts{Service: service(func(s *policy.Service) { s.TooMany = true })}, refusal: "more endpoints or pods than are checked"},
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
			if got.Problem != tc.problem {
				t.Errorf("problem %q, want %q", got.Problem, tc.problem)
			}
			if tc.allowed == "" {
				return
			}
			p := address.Policy{Allowed: got.Allowed, Denied: got.Denied}
			if err := p.Check(netip.MustParseAddrPort(tc.allowed)); err != nil || len(got.Allowed) != 1 {
				t.Errorf("%s: %v; allowed %v", tc.allowed, err, got.Allowed)
			}
		})
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
		"https://10.0.0.1:8443":       {refusal: "of a node, the API server, the operator"},
		"https://10.20.0.1:10250":     {refusal: "not allowed at port 10250: it is one of nodes"},
		"http://metadata.goog:8080":   {refusal: "a metadata service"},
		"http://a.localhost:8080":     {refusal: "the worker itself"},
		"http://10.99.1.1":            {refusal: "the administrator excepts"},
		"http://10.98.1.1":            {refusal: "the administrator excepts"},
		"http://10.97.1.1":            {refusal: "the administrator excepts"},
		"http://8.8.8.8":              {permitted: []string{"8.8.8.8:80"}, prohibited: []string{"8.8.8.9:80"}},
		"http://9.9.9.9":              {refusal: "not allowed"},
		"http://169.254.169.254":      {refusal: "a link-local address, which never is a target"},
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

func TestRulesThatMeanNothing(t *testing.T) {
	for document, want := range map[string]string{
		`{hosts: [10.0.0.1]}`:            `targets.rules[0].hosts: "10.0.0.1" is an address; put it into cidrs`,
		`{hosts: ["a.*.com"]}`:           `targets.rules[0].hosts: "a.*.com" must be a host, *.domain or *`,
		`{cidrs: [example.com]}`:         `targets.rules[0].cidrs: "example.com" must be a range of addresses`,
		`{hosts: ["*"], ports: ["0"]}`:   `targets.rules[0].ports: "0" must be a port`,
		`{hosts: ["*"], ports: ["9-8"]}`: `targets.rules[0].ports: "9-8" must be a port`,
		`{namespaces: [a]}`:              `targets.rules[0]: must have hosts or cidrs`,
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
	if err != nil {
		f.Fatal(err)
	}
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
