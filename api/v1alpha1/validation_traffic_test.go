package v1alpha1_test

// trafficValidations are about what is sent, and where to.
var trafficValidations = []validation{
	// What to send it to.
	{
		name:    "no target",
		valid:   "{}",
		invalid: "{target: null}",
		want:    []string{"spec.target: Required value"},
	},
	{
		name:    "no URL",
		valid:   "{target: {url: http://shortener}}",
		invalid: "{target: {url: null}}",
		want:    []string{"spec.target: Invalid value: exactly one of url and service must be set"},
	},
	{
		name:    "both URL and service",
		valid:   "{target: {url: null, service: {name: shortener}}}",
		invalid: "{target: {service: {name: shortener}}}",
		want:    []string{"spec.target: Invalid value: exactly one of url and service must be set"},
	},
	{
		name:    "URL with a path",
		valid:   "{target: {url: 'http://shortener:8080/'}}",
		invalid: "{target: {url: 'http://shortener:8080/urls'}}",
		want:    []string{`spec.target.url: Invalid value: "http://shortener:8080/urls": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "URL of another scheme",
		valid:   "{target: {url: 'https://shortener'}}",
		invalid: "{target: {url: 'ftp://shortener'}}",
		want:    []string{`spec.target.url: Invalid value: "ftp://shortener": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "URL without a scheme",
		valid:   "{target: {url: 'http://10.0.0.1:80'}}",
		invalid: "{target: {url: 'shortener:8080'}}",
		want:    []string{`spec.target.url: Invalid value: "shortener:8080": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "URL with a password",
		valid:   "{target: {url: 'http://[::1]:8080'}}",
		invalid: "{target: {url: 'http://me:secret@shortener'}}",
		want:    []string{`spec.target.url: Invalid value: "http://me:secret@shortener": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "empty URL",
		valid:   "{target: {url: 'http://s'}}",
		invalid: "{target: {url: ''}}",
		want:    []string{`spec.target.url: Invalid value: "": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "service name",
		valid:   "{target: {url: null, service: {name: rate-limiter-2}}}",
		invalid: "{target: {url: null, service: {name: Rate_Limiter}}}",
		want:    []string{`spec.target.service.name: Invalid value: "Rate_Limiter": spec.target.service.name in body should match '^[a-z]([-a-z0-9]*[a-z0-9])?$'`},
	},
	{
		name:    "service port",
		valid:   "{target: {url: null, service: {name: s, port: 65535}}}",
		invalid: "{target: {url: null, service: {name: s, port: 65536}}}",
		want:    []string{"spec.target.service.port: Invalid value: 65536: spec.target.service.port in body should be less than or equal to 65535"},
	},
	{
		name:    "service scheme",
		valid:   "{target: {url: null, service: {name: s, scheme: https}}}",
		invalid: "{target: {url: null, service: {name: s, scheme: ftp}}}",
		want:    []string{`spec.target.service.scheme: Unsupported value: "ftp": supported values: "http", "https"`},
	},
	{
		name:    "timeout of 999us",
		valid:   "{target: {timeout: 1ms}}",
		invalid: "{target: {timeout: 999us}}",
		want:    []string{`spec.target.timeout: Invalid value: "999us": timeout must be a time from 1ms to 10m, such as 30s`},
	},
	{
		name:    "timeout of 10m1s",
		valid:   "{target: {timeout: 10m}}",
		invalid: "{target: {timeout: 10m1s}}",
		want:    []string{`spec.target.timeout: Invalid value: "10m1s": timeout must be a time from 1ms to 10m, such as 30s`},
	},
	{
		name:    "timeout of soon",
		valid:   "{target: {timeout: 1m30.5s}}",
		invalid: "{target: {timeout: soon}}",
		want:    []string{`spec.target.timeout: Invalid value: "soon": timeout must be a time from 1ms to 10m, such as 30s`},
	},
	{
		name:    "timeout of -1s",
		valid:   "{target: {timeout: 9m59s}}",
		invalid: "{target: {timeout: -1s}}",
		want:    []string{`spec.target.timeout: Invalid value: "-1s": timeout must be a time from 1ms to 10m, such as 30s`},
	},
	{
		name:    "header name",
		valid:   "{target: {headers: [{name: X-Forwarded-For, value: ''}]}}",
		invalid: "{target: {headers: [{name: 'X Y', value: ''}]}}",
		want:    []string{`spec.target.headers[0].name: Invalid value: "X Y": spec.target.headers[0].name in body should match '^[-!#$%&'*+.^_` + "`" + `|~0-9A-Za-z]+$'`},
	},
	{
		name:    "header value",
		valid:   `{target: {headers: [{name: a, value: "1 2"}]}}`,
		invalid: `{target: {headers: [{name: a, value: "1\n2"}]}}`,
		want:    []string{`spec.target.headers[0].value: Invalid value: "1\n2": spec.target.headers[0].value in body should match '^[^\r\n\x00]*$'`},
	},
	{
		name:    "header twice",
		valid:   "{target: {headers: [{name: a, value: '1'}, {name: b, value: '1'}]}}",
		invalid: "{target: {headers: [{name: a, value: '1'}, {name: a, value: '2'}]}}",
		want:    []string{`spec.target.headers[1]: Duplicate value: {"name":"a"}`},
	},
	// What to send.
	{
		name:    "no requests",
		valid:   "{}",
		invalid: "{requests: []}",
		want:    []string{"spec.requests: Invalid value: 0: spec.requests in body should have at least 1 items"},
	},
	{
		name:    "names of requests",
		valid:   "{requests: [{name: a}, {name: b}, {}, {}]}",
		invalid: "{requests: [{name: a}, {name: a}]}",
		want:    []string{"spec.requests: Invalid value: requests must have names that are unique"},
	},
	{
		name:    "path",
		valid:   "{requests: [{path: '/a?b=c'}]}",
		invalid: "{requests: [{path: health}]}",
		want:    []string{`spec.requests[0].path: Invalid value: "health": spec.requests[0].path in body should match '^/[^\r\n\x00 ]*$'`},
	},
	{
		name:    "method",
		valid:   "{requests: [{method: PATCH}]}",
		invalid: "{requests: [{method: get}]}",
		want:    []string{`spec.requests[0].method: Unsupported value: "get": supported values: "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"`},
	},
	{
		name:    "weight",
		valid:   "{requests: [{weight: 1000}]}",
		invalid: "{requests: [{weight: 0}]}",
		want:    []string{"spec.requests[0].weight: Invalid value: 0: spec.requests[0].weight in body should be greater than or equal to 1"},
	},
	{
		name:    "expected status",
		valid:   "{requests: [{expect: {status: [200, 429]}}]}",
		invalid: "{requests: [{expect: {status: [100]}}]}",
		want:    []string{"spec.requests[0].expect.status[0]: Invalid value: 100: spec.requests[0].expect.status[0] in body should be greater than or equal to 200"},
	},
	{
		name:    "expected status twice",
		valid:   "{requests: [{expect: {status: [200]}}]}",
		invalid: "{requests: [{expect: {status: [200, 200]}}]}",
		want:    []string{"spec.requests[0].expect.status[1]: Duplicate value: 200"},
	},
	{
		name:    "no expected status",
		valid:   "{requests: [{expect: {status: [201]}}]}",
		invalid: "{requests: [{expect: {status: []}}]}",
		want:    []string{"spec.requests[0].expect.status: Invalid value: 0: spec.requests[0].expect.status in body should have at least 1 items"},
	},
}
