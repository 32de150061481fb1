package local_test

const (
	canaryHeaders = `headers: [{name: Authorization, valueFrom: {secret: {name: api, key: header}}}, {name: X-Plain, value: kanari4header}]`
	canarySteps   = `steps: [{name: s, users: 1, requestsPerUser: 2}]`
	// canaryDeadline ends the runs whose target is never ready.
	canaryDeadline = 10
)

// failing are specs whose runs go wrong in the ways that messages are about. says is a
// part of the status, which shows that the run went wrong in this way, and exposed is the
// canary that is shown if responses are exposed.
var failing = map[string]struct{ fields, says, exposed string }{
	"an expectation": {fields: `requests: [{name: ok, http: {path: /ok, method: POST, body: kanari5body}, expect: {json: [{path: .token, equals: x}]}}]`,
		says: `a string of 25 bytes instead of "x"`, exposed: "kanari7value"},
	"a redirect": {fields: `requests: [{name: moved, http: {path: /moved}, expect: {status: [200]}}]`, says: `302`},
	"no JSON": {fields: `requests: [{name: html, http: {path: /html}, expect: {json: [{path: .token, equals: x}]}}]`,
		says: `the body of 24 bytes is not JSON`, exposed: "kanari8body"},
	"a header line": {fields: `requests: [{name: header, http: {path: /header}}]`, says: `malformed HTTP response: header of 23 bytes`, exposed: "kanari9line"},
	"a status line": {fields: `requests: [{name: status, http: {path: /status}}]`, says: `status line of 27 bytes`, exposed: "kanari13reason"},
	"an upgrade that is answered with no HTTP": {fields: `requests: [{name: talk, webSocket: {path: /header, send: [kanari5body]}}]`,
		says: `read: malformed HTTP response`, exposed: "kanari9line"},
	"an upgrade that is refused": {fields: `requests: [{name: talk, webSocket: {path: /moved, send: [kanari5body]}}]`, says: `status 302 Found`},
	"a length":                   {fields: `requests: [{name: length, http: {path: /length}}]`, says: `Content-Length of 11 bytes`, exposed: "kanari9line"},
	"a chunk":                    {fields: `requests: [{name: chunk, http: {path: /chunk}}]`, says: `chunk size of 12 bytes`, exposed: "kanari8body"},
	"a preflight": {fields: `requests: [{name: ok, http: {path: /ok}}], preflight: [{http: {path: /ok}, expect: {json: [{path: .token, equals: x}]}}]`,
		says: `preflight: GET /ok: .token: a string of 25 bytes`, exposed: "kanari7value"},
	"a fill": {fields: `requests: [{name: r, http: {path: /html}}], setup: {fill: {request: r, count: 1, capture: {c: .c}}}`,
		says: `capture of c: the body of 24 bytes is not JSON`, exposed: "kanari8body"},
	"a captured path": {fields: `requests: [{name: r, http: {path: /ok}}, {name: q, http: {path: "/${c}"}}], setup: {fill: {request: r, count: 1, capture: {c: .token}}}`,
		says: `column "c": the character at 12 must be percent-encoded`},
	"a journey": {
		fields: `requests: [{name: r, http: {path: /ok}, weight: 0}, {name: q, http: {path: "/${c}"}, weight: 0}], journeys: [{name: j, steps: [{request: r, capture: {c: .token}}, {request: q}]}]`,
		says:   `at .token the character at 12 must be percent-encoded`, exposed: "kanari7value",
	},
	"a journey's path": {
		fields: `requests: [{name: r, http: {path: /ok}, weight: 0}, {name: q, http: {path: "/header/${c}"}, weight: 0}], journeys: [{name: j, steps: [{request: r, capture: {c: .id}}, {request: q}]}]`,
		says:   `header of 23 bytes`, exposed: "kanari9line",
	},
	"a captured page": {
		fields: `requests: [{name: r, http: {path: /html}, weight: 0}], journeys: [{name: j, steps: [{request: r, captureFrom: [{name: c, match: '(x)'}]}]}]`,
		says:   `capture.c: the body of 24 bytes has no match of (x)`, exposed: "kanari8body",
	},
	"a captured header": {
		fields: `requests: [{name: r, http: {path: /ok}, weight: 0}], journeys: [{name: j, steps: [{request: r, captureFrom: [{name: c, header: x-canary, match: '(x)'}]}]}]`,
		says:   `capture.c: the X-Canary of 14 bytes has no match of (x)`, exposed: "kanari11header",
	},
	"a captured cookie": {
		fields: `requests: [{name: r, http: {path: /ok}, weight: 0}], journeys: [{name: j, steps: [{request: r, captureFrom: [{name: c, cookie: session, match: '(x)'}]}]}]`,
		says:   `capture.c: the session of 14 bytes has no match of (x)`, exposed: "kanari10cookie",
	},
	"a redirect elsewhere": {fields: `requests: [{name: r, http: {path: /moved, followRedirects: 2}}]`,
		says: `status 302 Found: the redirect leads to another scheme, host or port`, exposed: "kanari12location"},
	"a field of a form": {fields: `requests: [{name: ok, http: {path: /ok, method: POST, form: [{name: a, value: "${kanari5body kanari5body}"}]}}]`,
		says: `the ${ at 0 has no name`},
	"an audit": {
		fields: `requests: [{name: r, http: {path: /ok}}], audits: [{name: a, stored: {requests: [r], read: {http: {path: /ok}}, value: .token, stableFor: 0s, maxWait: 1s}}]`,
		says:   `.token is a text of 25 bytes`, exposed: "kanari7value",
	},
	"no target": {fields: `target: {url: "http://127.0.0.1:1", ` + canaryHeaders + `}, requests: [{name: ok, http: {path: /ok}}]`, says: `connect: connection refused`},
	"a Secret's header": {fields: `requests: [{name: ok, http: {path: /ok, headers: [{name: A, valueFrom: {secret: {name: api, key: control}}}]}}]`,
		says: `header "A": its value holds a control character`},
	"a Secret's body": {fields: `requests: [{name: ok, http: {path: /ok, method: POST, bodyFrom: {secret: {name: api, key: body}}}}]`,
		says: `the $ at 0 does not begin any of`},
	"a Secret's targets": {fields: `requests: [{name: r, http: {targets: {from: {secret: {name: api, key: targets}}}}}]`,
		says: `file targets of Secret api: line 2: bad header`},
	"a TLS key": {fields: `target: {url: "https://127.0.0.1:1", tls: {clientCertificate: {secretName: api}}}, requests: [{name: ok, http: {path: /ok}}]`,
		says: `failed to find any PEM data`},
	"a row of names": {fields: `requests: [{name: home, http: {path: "/${x}"}}], data: [{name: d, format: CSV, from: {secret: {name: rows, key: names}}}]`,
		says: `column 1 has no name`},
	"a row of JSON": {fields: `requests: [{name: home, http: {path: "/${a}"}}], data: [{name: d, format: JSONLines, from: {secret: {name: rows, key: lines}}}]`,
		says: `line 1: is not a JSON object`},
	"a row in a path": {fields: `requests: [{name: home, http: {path: "/${a}"}}], data: [{name: d, format: CSV, from: {secret: {name: rows, key: path}}}]`,
		says: `column "a": the character at 10 must be percent-encoded`},
	"a plain template": {fields: `requests: [{name: ok, http: {path: /ok, method: POST, body: "kanari5body ${kanari5body kanari5body}"}}]`,
		says: `the ${ at 12 has no name`},
}
