package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// At the address of a host that a rule names may be the hosts of others, as in a content delivery network.
func TestRequestsAreForHostsThatRulesAllow(t *testing.T) {
	const (
		shop = `target: {url: "https://shop.example.com"`
		ask  = " is not allowed for requests to shop.example.com; ask the administrator to add it to targets.rules of the operator's configuration."
	)
	host := func(value string) string { return "headers: [{name: hOST, value: '" + value + "'}]" }
	for name, tc := range map[string]struct{ spec, want string }{
		"its own":                          {shop + `, tls: {serverName: shop.example.com}, ` + host("Shop.example.com.:443") + `}`, ""},
		"another that is allowed":          {shop + `, tls: {serverName: www.example.com}, ` + host("www.example.com") + `}`, ""},
		"a header of the target":           {shop + `, ` + host("bank.example.net") + `}`, "spec.target.headers[0].value: host bank.example.net" + ask},
		"with a port":                      {shop + `, ` + host("bank.example.net:443") + `}`, "spec.target.headers[0].value: host bank.example.net" + ask},
		"another before one that is":       {shop + `, ` + host("bank.example.net/.example.com") + `}`, "spec.target.headers[0].value: host bank.example.net/.example.com" + ask},
		"one label":                        {shop + `, ` + host("bank") + `}`, "spec.target.headers[0].value: host bank" + ask},
		"with a variable":                  {shop + `, ` + host("${host}") + `}`, "spec.target.headers[0].value: host ${host}" + ask},
		"of a Secret":                      {shop + `, headers: [{name: Host, valueFrom: {secret: {name: loadtest-a, key: b}}}]}`, "spec.target.headers[0].valueFrom: the host for requests to shop.example.com must not come from a Secret; write it as value."},
		"the server name of TLS":           {shop + `, tls: {serverName: bank.example.net}}`, "spec.target.tls.serverName: host bank.example.net" + ask},
		"a request":                        {`{` + shop + `}, requests: [{name: a, http: {` + host("bank.example.net") + `}}]}`, "spec.requests[0].http.headers[0].value: host bank.example.net" + ask},
		"a question":                       {`{` + shop + `}, preflight: [{http: {` + host("bank.example.net") + `}}]}`, "spec.preflight[0].http.headers[0].value: host bank.example.net" + ask},
		"a request to another target":      {`{otherTargets: [{name: b, url: "https://shop.example.com"}], requests: [{name: a, target: b, http: {` + host("bank.example.net") + `}}]}`, "spec.requests[0].http.headers[0].value: host bank.example.net" + ask},
		"a request to a Service beside it": {`{otherTargets: [{name: b, url: "https://shop.example.com"}], requests: [{name: a, http: {` + host("bank.example.net") + `}}, {name: b, target: b, http: {}}]}`, ""},
		"to a Service and to a control":    {`{otherTargets: [{name: b, url: "https://shop.example.com"}], versus: {target: b}, requests: [{name: a, http: {` + host("bank.example.net") + `}}]}`, "spec.requests[0].http.headers[0].value: host bank.example.net" + ask},
		"the server name of another":       {`{otherTargets: [{name: b, url: "https://shop.example.com", tls: {serverName: bank.example.net}}], requests: [{name: b, target: b, http: {}}]}`, "spec.otherTargets[b].tls.serverName: host bank.example.net" + ask},
		"a Service":                        {`target: {url: "https://shop", tls: {serverName: bank.example.net}, ` + host("${host}") + `}`, ""},
		"an address":                       {`target: {url: "https://192.0.2.7", tls: {serverName: bank.example.net}, ` + host("${host}") + `}`, ""},
		"where all hosts are allowed":      {`target: {url: "https://shop.example.com:8443", tls: {serverName: bank.example.net}, ` + host("${host}") + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load([]byte(`targets: {rules: [{hosts: ["*.example.com"]}, {hosts: ["*"], ports: ["8443"]}, {cidrs: [192.0.2.7]}]}`))
			must.Succeed(t, err)
			got := ""
			if _, refusal := plan.New(loadTest(yamlSpec(t, tc.spec)), p.For("demo")); refusal != nil {
				same.As(t, "reason", v1beta1.ReasonTargetNotAllowed, refusal.Reason)
				got = refusal.Message
			}
			same.As(t, "refusal", tc.want, got)
		})
	}
}
