package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestQueriesOfNamespaces(t *testing.T) {
	const document = `
prometheus:
  url: https://prometheus.monitoring:9090/prefix/
  timeout: 2s
  queries:
    - {name: connections, namespaces: [team-a], expression: "a", limit: 20}
    - {name: connections, expression: "b", limit: "0.5"}
    - {name: hits, expression: "c"}
    - {name: l1, expression: "d", limit: 1}
    - {name: l2, expression: "d", limit: 1}
    - {name: l3, expression: "d", limit: 1}
    - {name: l4, expression: "d", limit: 1}
`
	p := load(t, document)
	same.As(t, "Prometheus", policy.Prometheus{URL: "https://prometheus.monitoring:9090/prefix", Timeout: 2 * time.Second}, p.Prometheus())
	for namespace, want := range map[string]policy.Query{
		"team-a": {Name: "connections", Expression: "a", Limit: "20"},
		"team-b": {Name: "connections", Expression: "b", Limit: "0.5"},
	} {
		queries := p.For(namespace).Queries
		if got, ok := queries.Named("connections"); !ok || got != want {
			t.Errorf("of %s: %+v, want %+v", namespace, got, want)
		}
		same.As(t, "names of "+namespace, []string{"connections", "hits", "l1", "l2", "l3", "l4"}, queries.Names())
		same.As(t, "those that are asked for all runs of "+namespace, []string{"connections", "l1", "l2", "l3"}, queries.Limited())
		if !queries.Allows("hits") || queries.Allows("other") {
			t.Errorf("%s may name what is not there, or not what is", namespace)
		}
	}
	if q := policy.Default().For("any").Queries; q.Names() != nil || q.Allows("hits") || policy.Default().Prometheus() != (policy.Prometheus{}) {
		t.Errorf("without a configuration there is %+v", q)
	}
	if !policy.Everything().Queries.Allows("hits") {
		t.Error("where no configuration is known, a name is refused")
	}
}

func TestPrometheusThatCannotBe(t *testing.T) {
	for document, want := range map[string]string{
		`{prometheus: {url: prometheus}}`:                               "prometheus.url: must be a URL of http or https, such as https://host.example.com",
		`{prometheus: {url: "https://me:secret@prometheus"}}`:           "prometheus.url: must not have a user or a password: put keys into the Secret that is mounted in the operator's pods",
		`{prometheus: {url: "https://prometheus/?a=b"}}`:                "prometheus.url: must not have a query: give a scheme, a host, a port and perhaps a path",
		`{prometheus: {url: "https://p", timeout: 11s}}`:                "prometheus.timeout: 11s must be more than 0s and at most 10s",
		`{prometheus: {url: "https://p", timeout: 0s}}`:                 "prometheus.timeout: 0s must be more than 0s and at most 10s",
		of(`{name: "a/b", expression: up}`):                             `prometheus.queries[0].name: "a/b" must be 1 to 63 letters, digits, spaces, dots, hyphens and underscores`,
		of(`{name: "", expression: up}`):                                `prometheus.queries[0].name: "" must be 1 to 63 letters, digits, spaces, dots, hyphens and underscores`,
		of(`{name: a, expression: " "}`):                                "prometheus.queries[0].expression: must be an expression of PromQL with at most 4096 bytes",
		of(`{name: a, expression: "x[$range]"}`):                        "prometheus.queries[0].expression: $range is unknown: the variables are $window, $namespace and $service",
		of(`{name: a, expression: 'x{n=$namespace}'}`):                  "prometheus.queries[0].expression: $namespace must stand in double or single quotes, as the value of a label",
		of("{name: a, expression: 'x{n=`$service`}'}"):                  "prometheus.queries[0].expression: $service must stand in double or single quotes, as the value of a label",
		of(`{name: a, expression: 'x{n="$window"}'}`):                   "prometheus.queries[0].expression: $window must not stand in quotes: it is a duration, as in [$window]",
		of(`{name: a, expression: 'x{n="\"",m=$service}'}`):             "prometheus.queries[0].expression: $service must stand in double or single quotes, as the value of a label",
		of(`{name: a, expression: up, limit: 0}`):                       `prometheus.queries[0].limit: "0" must be a number above 0, such as 20 or "0.5"`,
		of(`{name: a, expression: up, limit: "1e3"}`):                   `prometheus.queries[0].limit: "1e3" must be a number above 0, such as 20 or "0.5"`,
		of(`{name: a, expression: up, namespaces: ["a b"]}`):            `prometheus.queries[0].namespaces[0]: "a b" must be the name of a namespace, with * for any characters`,
		of(strings.Repeat(`{name: a, expression: up}, `, 65)):           "prometheus.queries: there are 65, at most 64 are allowed",
		`{prometheus: {url: "https://p", token: hunter2}}`:              `unknown field "prometheus.token"`,
		of(`{name: a, expression: up, url: "https://other"}`):           `unknown field "prometheus.queries[0].url"`,
		of(`{name: "` + strings.Repeat("x", 64) + `", expression: up}`): `prometheus.queries[0].name: "` + strings.Repeat("x", 64) + `" must be 1 to 63 letters, digits, spaces, dots, hyphens and underscores`,
	} {
		if _, err := policy.Load([]byte(document)); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nwant %s", document, err, want)
		}
	}
}

func of(query string) string { return `{prometheus: {url: "https://p", queries: [` + query + `]}}` }

// What a variable stands for is a value and nothing else, whatever it is.
func TestVariablesOfAnExpression(t *testing.T) {
	values := policy.QueryValues{Window: "30000ms", Namespace: "shop", Service: "web"}
	for _, tc := range []struct {
		expression string
		values     policy.QueryValues
		want, err  string
	}{
		{`max_over_time(x{namespace="$namespace",service='$service'}[$window])`, values, `max_over_time(x{namespace="shop",service='web'}[30000ms])`, ""},
		{`x{pod=~"$service-.*$"} # $unknown "`, values, `x{pod=~"web-.*$"} # $unknown "`, ""},
		{"x # it's\n[$window]", values, "x # it's\n[30000ms]", ""},
		{`x{n="$namespace"}`, policy.QueryValues{Namespace: `a"} or vector(1) #\` + "\n"}, `x{n="a\"} or vector(1) #\\\n"}`, ""},
		{`x{n='$namespace'}`, policy.QueryValues{Namespace: `a'b`}, `x{n='a\'b'}`, ""},
		{`x{n="$namespace"}`, policy.QueryValues{Namespace: "$service", Service: "web"}, `x{n="$service"}`, ""},
		{`x{s="$service"}`, policy.QueryValues{Namespace: "shop"}, "", "the expression has $service, and the target is not a Service"},
	} {
		load(t, "{prometheus: {url: \"https://p\", queries: [{name: a, expression: "+quotedYAML(tc.expression)+"}]}}")
		got, err := policy.Query{Expression: tc.expression}.Expand(tc.values)
		switch {
		case tc.err == "" && (err != nil || got != tc.want):
			t.Errorf("%s: %s, %v\nwant %s", tc.expression, got, err, tc.want)
		case tc.err != "" && (err == nil || err.Error() != tc.err):
			t.Errorf("%s: %v, want %s", tc.expression, err, tc.err)
		}
	}
}

func quotedYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
