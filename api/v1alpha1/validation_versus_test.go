package v1alpha1_test

// versusValidations are about two targets in one run.
var versusValidations = []validation{
	{
		name:    "increase over the control",
		valid:   "{versus: {target: {service: {name: v3}}}, thresholds: [{metric: p95, maxIncrease: 10%}]}",
		invalid: "{versus: {}, thresholds: [{metric: p95, maxIncrease: 10%}]}",
		want:    []string{"spec.versus.target: Required value"},
	},
	{
		name:    "a control and a baseline",
		valid:   "{versus: {target: {url: 'http://v3:8080'}}}",
		invalid: "{versus: {target: {url: 'http://v3:8080'}}, baseline: {name: before}}",
		want:    []string{"spec.versus: Forbidden: versus must not be set with baseline: thresholds compare with one of them"},
	},
	{
		name:    "a control and a search",
		valid:   "{versus: {target: {url: 'http://v3:8080'}}, repetitions: 5}",
		invalid: "{versus: {target: {url: 'http://v3:8080'}}, steps: null, search: {users: {min: 1, max: 100}, duration: 20s}}",
		want:    []string{"spec.versus: Forbidden: versus must not be set with search, whose steps follow from one target"},
	},
	{
		name:    "a control and audits",
		valid:   "{versus: {target: {url: 'http://v3:8080'}, preflight: [{request: {path: /version}}]}}",
		invalid: `{versus: {target: {url: 'http://v3:8080'}}, audits: [{name: contract, rateLimit: {capacity: 50, refillPerSecond: "10", clientHeader: X-Forwarded-For}}]}`,
		want:    []string{"spec.versus: Forbidden: versus must not be set with audits, which count what one target does in the whole run"},
	},
	{
		name:    "timeout of the control",
		valid:   "{target: {timeout: 90s}, versus: {target: {url: 'http://v3:8080', timeout: 1m30s}}}",
		invalid: "{target: {timeout: 90s}, versus: {target: {url: 'http://v3:8080'}}}",
		want:    []string{`spec.versus.target.timeout: Invalid value: timeout must be that of spec.target: both are measured alike`},
	},
	{
		name:    "name of the control",
		valid:   "{versus: {name: v3.1_rc-2, target: {url: 'http://v3:8080'}}}",
		invalid: "{versus: {name: 'v3 ', target: {url: 'http://v3:8080'}}}",
		want:    []string{`spec.versus.name: Invalid value: "v3 ": spec.versus.name in body should match '^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$'`},
	},
	{
		name:    "tls of a control without it",
		valid:   "{versus: {target: {url: 'https://v3', tls: {insecureSkipVerify: true}}}}",
		invalid: "{versus: {target: {url: 'http://v3:8080', tls: {insecureSkipVerify: true}}}}",
		want:    []string{"spec.versus.target.tls: Forbidden: tls must not be set for a target that is not https"},
	},
	{
		name:    "neither url nor service of the control",
		valid:   "{versus: {target: {service: {name: v3}}}}",
		invalid: "{versus: {target: {}}}",
		want:    []string{"spec.versus.target: Invalid value: exactly one of url and service must be set"},
	},
	{
		name:    "path of the control's url",
		valid:   "{versus: {target: {url: 'http://v3:8080/'}}}",
		invalid: "{versus: {target: {url: 'http://v3:8080/x'}}}",
		want:    []string{`spec.versus.target.url: Invalid value: "http://v3:8080/x": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`},
	},
	{
		name:    "port of the control",
		valid:   "{versus: {target: {service: {name: v3, port: http}}}}",
		invalid: "{versus: {target: {service: {name: v3, port: 0}}}}",
		want:    []string{"spec.versus.target.service.port: Invalid value: 0: port must be a number from 1 to 65535, or the name of a port of the Service, such as http"},
	},
	{
		name:    "least timeout of the control",
		valid:   "{target: {timeout: 1ms}, versus: {target: {url: 'http://v3', timeout: 1ms}}}",
		invalid: "{target: {timeout: 1ms}, versus: {target: {url: 'http://v3', timeout: 999us}}}",
		want:    []string{`spec.versus.target.timeout: Invalid value: "999us": timeout must be a time from 1ms to 10m, such as 30s`, "spec.versus.target.timeout: Invalid value: timeout must be that of spec.target: both are measured alike"},
	},
	{
		name:    "HTTP/2 by a proxy to the control",
		valid:   "{versus: {target: {url: 'https://v3', protocol: HTTP/2, proxy: {url: 'http://proxy:3128'}}}}",
		invalid: "{versus: {target: {url: 'http://v3', protocol: HTTP/2, proxy: {url: 'http://proxy:3128'}}}}",
		want:    []string{"spec.versus.target.proxy: Forbidden: proxy must not be set with HTTP/2 for a target that is not https"},
	},
	{
		name:    "proxy of the control",
		valid:   "{versus: {target: {url: 'http://v3', proxy: {url: 'http://proxy:3128'}}}}",
		invalid: "{versus: {target: {url: 'http://v3', proxy: {url: 'https://proxy:3128'}}}}",
		want:    []string{`spec.versus.target.proxy.url: Invalid value: "https://proxy:3128": url must be http:// with a host, without credentials and without a path, such as http://proxy:3128`},
	},
	{
		name:    "shared connections of HTTP/2 to the control",
		valid:   "{versus: {target: {url: 'http://v3', protocol: HTTP/2, http2: {connections: 4}}}}",
		invalid: "{versus: {target: {url: 'http://v3', http2: {connections: 4}}}}",
		want:    []string{"spec.versus.target.http2: Forbidden: http2 must not be set unless protocol is HTTP/2"},
	},
	{
		name:    "shared connections and none that is kept, to the control",
		valid:   "{versus: {target: {url: 'http://v3', protocol: HTTP/2, http2: {}}}}",
		invalid: "{versus: {target: {url: 'http://v3', protocol: HTTP/2, disableKeepAlive: true, http2: {}}}}",
		want:    []string{"spec.versus.target.http2: Forbidden: http2 must not be set with disableKeepAlive, which gives each request a connection"},
	},
	{
		name:    "shared connections through a proxy to the control",
		valid:   "{versus: {target: {url: 'https://v3', protocol: HTTP/2, proxy: {url: 'http://proxy:3128'}}}}",
		invalid: "{versus: {target: {url: 'https://v3', protocol: HTTP/2, proxy: {url: 'http://proxy:3128'}, http2: {}}}}",
		want:    []string{"spec.versus.target.http2: Forbidden: http2 must not be set with proxy, through which each request in flight has a connection"},
	},
	{
		name:    "a ca that is not looked at",
		valid:   "{versus: {target: {url: 'https://v3', tls: {ca: {secretKeyRef: {name: a, key: b}}}}}}",
		invalid: "{versus: {target: {url: 'https://v3', tls: {insecureSkipVerify: true, ca: {secretKeyRef: {name: a, key: b}}}}}}",
		want:    []string{"spec.versus.target.tls: Invalid value: ca must not be set with insecureSkipVerify, which trusts every certificate"},
	},
	{
		name:    "source of the control's ca",
		valid:   "{versus: {target: {url: 'https://v3', tls: {ca: {configMapKeyRef: {name: a, key: b}}}}}}",
		invalid: "{versus: {target: {url: 'https://v3', tls: {ca: {}}}}}",
		want:    []string{"spec.versus.target.tls.ca: Invalid value: exactly one of configMapKeyRef and secretKeyRef must be set"},
	},
	{
		name:    "header of the control",
		valid:   "{versus: {target: {url: 'http://v3', headers: [{name: A, value: '1'}]}}}",
		invalid: "{versus: {target: {url: 'http://v3', headers: [{name: A}]}}}",
		want:    []string{"spec.versus.target.headers[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
	{
		name:    "header of a question to the control",
		valid:   "{versus: {target: {url: 'http://v3'}, preflight: [{request: {headers: [{name: A, value: '1'}]}}]}}",
		invalid: "{versus: {target: {url: 'http://v3'}, preflight: [{request: {headers: [{name: A}]}}]}}",
		want:    []string{"spec.versus.preflight[0].request.headers[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
}
