package templates_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/templates"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// files are the keys of ConfigMaps that are known.
var files = map[string]string{
	"users.csv":  "email,age\na@example.com,7\n",
	"users.json": `{"email": "a@example.com"}`,
	"empty.csv":  "",
	"body":       "${emial}",
	"odd.csv":    "code,name\na,b\nx y,\"c\nd\"\n",
}

func keys(key v1beta1.KeyReference) ([]byte, bool) {
	content, known := files[key.Key]
	return []byte(content), known
}

const users = "data: [{name: users, format: CSV, from: {configMap: {name: a, key: users.csv}}}]\n"

const odd = "data: [{name: d, format: CSV, from: {configMap: {name: a, key: odd.csv}}}]\n"

// checked is a spec, and what is found in it.
type checked struct {
	spec string
	want []templates.Problem
}

// finds is a spec in which one problem is found.
func finds(spec, field, message string) checked {
	return checked{spec, []templates.Problem{{field, message}}}
}

func TestCheck(t *testing.T) {
	const known = "known are ${user}, ${seq}, ${worker}, ${uuid} and ${rand:a-b}; write $$ for a dollar sign"
	for name, tt := range map[string]checked{
		"all variables": {spec: users + `requests: [{name: home, http: {path: "/${user}/${seq}/${worker}/${uuid}/${rand:1-9}/${email}/$${x}"}}]`},
		"none is alike": finds(`requests: [{name: home, http: {path: "/${token}"}}]`, "spec.requests[0].http.path", "nothing defines ${token}; "+known),
		"each place of a request": {
			spec: users + `requests: [{name: home, http: {path: "/${emial}", headers: [{name: A, value: "${emial}"}, {name: B, valueFrom: {secret: {name: a, key: b}}}], body: "${emial} ${emial}"}},
  {name: home-2, http: {bodyFrom: {configMap: {name: a, key: body}}}}]
target: {headers: [{name: C, value: "${emial}"}]}`,
			want: []templates.Problem{
				{"spec.target.headers[0].value", "nothing defines ${emial}; did you mean ${email}?"},
				{"spec.requests[0].http.path", "nothing defines ${emial}; did you mean ${email}?"},
				{"spec.requests[0].http.headers[0].value", "nothing defines ${emial}; did you mean ${email}?"},
				{"spec.requests[0].http.body", "nothing defines ${emial}; did you mean ${email}?"},
				{"spec.requests[1].http.bodyFrom", "nothing defines ${emial}; did you mean ${email}?"},
			},
		},
		"each place of a call": {
			spec: `requests: [{name: c, grpc: {method: a.B/C, message: {x: [{k: "${a}"}], n: 1}, messages: [{z: "${b}"}], metadata: [{name: m, value: "${c}"}]}}]`,
			want: []templates.Problem{
				{"spec.requests[0].grpc.message.x[0].k", "nothing defines ${a}; " + known},
				{"spec.requests[0].grpc.messages[0].z", "nothing defines ${b}; " + known},
				{"spec.requests[0].grpc.metadata[0].value", "nothing defines ${c}; " + known},
			},
		},
		"each place of a connection of WebSocket": {
			spec: `requests: [{name: c, webSocket: {path: "/${a}", headers: [{name: m, value: "${b}"}], send: [x, "${c}"]}}]`,
			want: []templates.Problem{
				{"spec.requests[0].webSocket.path", "nothing defines ${a}; " + known},
				{"spec.requests[0].webSocket.headers[0].value", "nothing defines ${b}; " + known},
				{"spec.requests[0].webSocket.send[1]", "nothing defines ${c}; " + known},
			},
		},
		"a condition with a column": {
			spec: users + "requests: [{name: login, http: {}}]\njourneys: [{name: j, user: {data: users}, steps: [{request: login}, {if: int(age) > 6 && email.size() > 3, request: login}]}]",
		},
		"a condition with another column": finds(users+`requests: [{name: login, http: {}}]
journeys: [{name: j, steps: [{request: login}]}, {name: k, user: {data: users}, steps: [{request: login}, {if: age > 6, request: login}]}]`,
			"spec.journeys[1].steps[1].if", "has types at character 5 that > does not take: (string, int); int(), double() and string() convert"),
		"what a repeat captures": {
			spec: `{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{repeat: {request: login, capture: {token: .t}, until: 'token != null', atMost: 3}}, {request: cart}]}]}`,
		},
		"what no step before a repeat captures": finds(`{requests: [{name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{repeat: {request: cart, capture: {token: .t}, until: 'token != null', atMost: 3}}]}]}`,
			"spec.journeys[0].steps[0].repeat.request", "cart has ${token}, which no step before it captures"),
		"a single dollar sign": finds(`requests: [{name: home, http: {path: "/$x"}}]`, "spec.requests[0].http.path", "a single $; write $$ for a dollar sign"),
		"rows that are not known may have any column": {
			spec: "data: [{name: a, format: CSV, from: {configMap: {name: a, key: other}}}]\nrequests: [{name: home, http: {path: \"/${token}\"}}]",
		},
		"columns of lines of JSON": finds("data: [{name: a, format: JSONLines, from: {configMap: {name: a, key: users.json}}}]\nrequests: [{name: home, http: {path: \"/${email}/${age}\"}}]",
			"spec.requests[0].http.path", "nothing defines ${age}; known are ${user}, ${seq}, ${worker}, ${uuid}, ${email} and ${rand:a-b}; write $$ for a dollar sign"),
		"rows that cannot be read": finds("data: [{name: a, format: CSV, from: {configMap: {name: a, key: empty.csv}}}]\nrequests: [{name: home, http: {path: \"/${token}\"}}]",
			"spec.data[0]", `data "a", file empty.csv of ConfigMap a: is empty: its first line must have the names of the columns`),
		"values that cannot stand in a path or a header, where they first do": {
			spec: odd + `requests: [{name: e, http: {path: "/a", body: "${code}${name}"}}, {name: f, http: {path: "/${json:code}", headers: [{name: A, value: "${code}${name}"}]}}, {name: g, http: {path: "/${code}/${name}"}}]`,
			want: []templates.Problem{
				{"spec.requests[1].http.path", `${code}: data "d", file odd.csv of ConfigMap a, line 3: the character at 1 must be percent-encoded, as it stands in a path`},
				{"spec.requests[1].http.headers[0].value", `${name}: data "d", file odd.csv of ConfigMap a, line 3: holds a control character, and stands in a header`},
			},
		},
		"values that cannot stand in a header of a target that a request has": finds(odd+`target: {headers: [{name: A, value: "${code}"}, {name: B, value: "${name}"}]}
requests: [{name: e, http: {path: "/a", headers: [{name: b, value: c}]}}]
otherTargets: [{name: v, headers: [{name: A, value: "${name}"}]}]
versus: {target: v}`,
			"spec.otherTargets[0].headers[0].value", `${name}: data "d", file odd.csv of ConfigMap a, line 3: holds a control character, and stands in a header`),
		"what the setup captures": {
			spec: `{setup: {fill: {request: a, count: 1, capture: {code: .code}}}, requests: [{name: a, http: {}}, {name: home, http: {path: "/${code}"}}]}`,
		},
		"what the request of the setup captures itself": finds(`{setup: {fill: {request: a, count: 1, capture: {code: .code}}}, requests: [{name: a, http: {path: "/${code}"}}]}`,
			"spec.setup.fill.request", "a has ${code}, which it captures itself"),
		"what a journey captures": {
			spec: `{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}, {think: {min: 1s, max: 1s}}, {request: cart}]}]}`,
		},
		"a field of a form": finds(`{requests: [{name: home, http: {form: [{name: a, value: "${user}"}, {name: f, filename: f}, {name: b, value: "${tokn}"}], bodyFrom: {configMap: {name: a, key: body}}}}]}`,
			"spec.requests[0].http.form[2].value", "nothing defines ${tokn}; known are ${user}, ${seq}, ${worker}, ${uuid} and ${rand:a-b}; write $$ for a dollar sign"),
		"what a journey captures from a header": {
			spec: `{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, captureFrom: [{name: token, header: X}]}, {request: cart}]}]}`,
		},
		"captured from a header after it is used": finds(`{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: cart}, {request: login, captureFrom: [{name: token, header: X}]}]}]}`,
			"spec.journeys[0].steps[0].request", "cart has ${token}, which no step before it captures"),
		"captured after it is used": finds(`{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: cart}, {request: login, capture: {token: .t}}]}]}`,
			"spec.journeys[0].steps[0].request", "cart has ${token}, which no step before it captures"),
		"captured by another journey": finds(`{requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}]}, {name: k, steps: [{request: cart}]}]}`,
			"spec.journeys[1].steps[0].request", "cart has ${token}, which no step before it captures"),
		"captured by its own response": finds(`{requests: [{name: login, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}]}]}`,
			"spec.journeys[0].steps[0].request", "login has ${token}, which no step before it captures"),
		"captured, and sent by the mix": finds(`{requests: [{name: login, http: {}}, {name: cart, weight: 1, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}, {request: cart}]}]}`,
			"spec.requests[1].weight", "must be 0: ${token} is captured by a journey, which alone may send the request"),
		"preflight and audits have no columns": {
			spec: users + `requests: [{name: home, http: {path: "/${email}"}}]
preflight: [{http: {path: "/${email}", headers: [{name: A, value: "${age}"}]}}]
otherTargets: [{name: v3}]
versus: {target: v3, preflight: [{grpc: {method: a.B/C, message: {x: "${email}"}}}]}
audits: [{name: a, stored: {read: {http: {path: "/${email}"}}, value: .a, requests: [a]}}]`,
			want: []templates.Problem{
				{"spec.preflight[0].http.path", "nothing defines ${email}; " + known},
				{"spec.preflight[0].http.headers[0].value", "nothing defines ${age}; " + known},
				{"spec.audits[0].stored.read.http.path", "nothing defines ${email}; " + known},
				{"spec.versus.preflight[0].grpc.message.x", "nothing defines ${email}; " + known},
			},
		},
		"headers of a control have no columns with its own questions": {
			spec: users + `otherTargets: [{name: a, headers: [{name: B, value: "${email}"}]}, {name: v3, headers: [{name: A, value: "${email}"}, {name: C, value: "${nothing}"}]}]
versus: {target: v3, preflight: [{http: {headers: [{name: c, value: "1"}]}}]}
requests: [{name: home, http: {}}, {name: to a, target: a, http: {}}]`,
			want: []templates.Problem{
				{"spec.otherTargets[1].headers[1].value", "nothing defines ${nothing}; known are ${user}, ${seq}, ${worker}, ${uuid}, ${age}, ${email} and ${rand:a-b}; write $$ for a dollar sign"},
				{"spec.otherTargets[1].headers[0].value", "${email} must not stand here with preflight or audits: they are sent with the headers of the target and have no columns; move the header to the requests"},
			},
		},
		"a value of a journey in a header of a control": finds(`{otherTargets: [{name: v3, headers: [{name: A, value: "${token}"}]}, {name: b}], versus: {target: v3}, requests: [{name: login, http: {}}, {name: to b, target: b, http: {}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}]}]}`,
			"spec.journeys[0].steps[0].request", "login has ${token}, which no step before it captures"),
		"a header that preflight replaces": {
			spec: users + `target: {headers: [{name: A, value: "${email}"}]}
requests: [{name: home, http: {}}]
preflight: [{http: {headers: [{name: a, value: "1"}]}}]`,
		},
		"a captured value in a header of the target": finds(`{target: {headers: [{name: A, value: "${token}"}]}, requests: [{name: login, http: {}}, {name: cart, http: {}}, {name: own, http: {headers: [{name: a, value: b}]}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}, {request: cart}]}]}`,
			"spec.journeys[0].steps[0].request", "login has ${token}, which no step before it captures"),
		"captured, and sent by the setup": {
			spec: `{setup: {fill: {request: cart, count: 1}, warmUp: {request: cart, duration: 1s}}, requests: [{name: login, http: {}}, {name: cart, http: {path: "/${token}"}}], journeys: [{name: j, steps: [{request: login, capture: {token: .t}}, {request: cart}]}]}`,
			want: []templates.Problem{
				{"spec.setup.fill.request", "cart has ${token}, which is captured by a journey, which alone may send the request"},
				{"spec.setup.warmUp.request", "cart has ${token}, which is captured by a journey, which alone may send the request"},
			},
		},
		"a column of two tables": finds("data: [{name: a, format: CSV, from: {configMap: {name: a, key: users.csv}}}, {name: b, format: JSONLines, from: {configMap: {name: a, key: users.json}}}]\nrequests: [{name: home, http: {}}]",
			"spec.data[1]", "email is a column of another table too: a column belongs to one table only"),
		"a header that preflight has too": finds(users+`target: {headers: [{name: A, value: "${email}"}]}
requests: [{name: home, http: {}}]
preflight: [{http: {}}]`,
			"spec.target.headers[0].value", "${email} must not stand here with preflight or audits: they are sent with the headers of the target and have no columns; move the header to the requests"),
	} {
		t.Run(name, func(t *testing.T) { checkSpec(t, tt.spec, tt.want) })
	}
}

func TestCheckJSONBodies(t *testing.T) {
	wrong := func(why string) []templates.Problem {
		return []templates.Problem{{"spec.requests[0].http.body", "is no JSON, as its Content-Type says it is: " + why}}
	}
	for name, tt := range map[string]struct {
		header, body, more string
		want               []templates.Problem
	}{
		"right":                              {"application/json", `{"a": ${seq}, "b": "${uuid}"}`, "", nil},
		"lines of JSON":                      {"application/json", `{"a": 1} {"b": 2}`, "", nil},
		"a UUID outside of a string":         {"application/json", `{"a": ${uuid}}`, "", wrong("invalid character '0' after object key:value pair")},
		"a comma too many":                   {"application/json", `{"a": 1,}`, "", wrong("invalid character '}' looking for beginning of object key string")},
		"with a character set":               {"application/JSON; charset=utf-8", "{", "", wrong("unexpected EOF")},
		"a kind of JSON":                     {"application/problem+json", "{", "", wrong("unexpected EOF")},
		"another type":                       {"text/plain", "{", "", nil},
		"a word outside of a string":         {"application/json", `{"a": x${seq}}`, "", wrong("invalid character 'x' looking for beginning of value")},
		"a column outside of a string":       {"application/json", `{"a": 1, ${rest}}`, "", nil},
		"a column inside of a string":        {"application/json", `{"a\"": "${rest}",}`, "", wrong("invalid character '}' looking for beginning of object key string")},
		"a request that is to be refused":    {"application/json", "{", "expect: {status: [400]}", nil},
		"a request that is to be redirected": {"application/json", "{", "expect: {status: [302]}", wrong("unexpected EOF")},
	} {
		t.Run(name, func(t *testing.T) {
			data := `data: [{name: a, format: CSV, from: {configMap: {name: a, key: unknown}}}]`
			checkSpec(t, data+"\nrequests:\n- {name: home, http: {headers: [{name: content-type, value: '"+tt.header+"'}], body: '"+tt.body+"'}, "+tt.more+"}", tt.want)
		})
	}
}

func checkSpec(t *testing.T, written string, want []templates.Problem) {
	t.Helper()
	var spec v1beta1.LoadTestSpec
	must.Succeed(t, yaml.UnmarshalStrict([]byte(written), &spec))
	same.As(t, "problems", want, templates.Check(&spec, keys))
}
