package v1alpha1_test

// auditValidations are about numbers that the target tells of itself.
var auditValidations = []validation{
	{
		name:    "audit of two kinds",
		valid:   "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create]}, rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: A}}]}",
		want:    []string{"spec.audits[0]: Invalid value: exactly one member must be set beside name: rateLimit or stored"},
	},
	{
		name:    "audit of a request that is not there",
		valid:   "{requests: [{name: create}, {name: import, items: 10}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create, import]}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create, import]}}]}",
		want:    []string{"spec.audits: Invalid value: requests of an audit must be names of spec.requests"},
	},
	{
		name:    "audit of no request",
		valid:   "{requests: [{name: create}], audits: [{name: links, stored: {read: {}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {}, value: .links, requests: []}}]}",
		want:    []string{"spec.audits[0].stored.requests: Invalid value: 0: spec.audits[0].stored.requests in body should have at least 1 items"},
	},
	{
		name:    "how long a number must stay the same",
		valid:   "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create], stableFor: 0s}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create], stableFor: 11m}}]}",
		want:    []string{`spec.audits[0].stored.stableFor: Invalid value: "11m": stableFor must be a time from 0s to 10m, such as 3s`},
	},
	{
		name:    "how long is waited for a number",
		valid:   "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create], maxWait: 1h}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {path: /stats}, value: .links, requests: [create], maxWait: 0s}}]}",
		want:    []string{`spec.audits[0].stored.maxWait: Invalid value: "0s": maxWait must be a time from 1s to 1h, such as 2m`},
	},
	{
		name:    "a header of a reading",
		valid:   "{requests: [{name: create}], audits: [{name: links, stored: {read: {headers: [{name: A, value: b}]}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create}], audits: [{name: links, stored: {read: {headers: [{name: A}]}, value: .links, requests: [create]}}]}",
		want:    []string{"spec.audits[0].stored.read.headers[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
}
