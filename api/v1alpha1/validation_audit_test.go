package v1alpha1_test

// auditValidations are about numbers that the target reports of itself.
var auditValidations = []validation{
	{name: "audit of two kinds", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create]}, rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: A}}]}",
		want:    []string{"spec.audits[0]: Invalid value: exactly one member must be set beside name: rateLimit or stored"}},
	{name: "audit of a request that is not there", valid: "{requests: [{name: create, http: {}}, {name: import, http: {}, items: 10}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create, import]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create, import]}}]}",
		want:    []string{"spec.audits: Invalid value: requests of an audit must be names of spec.requests"}},
	{name: "audit of no request", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {}}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {}}, value: .links, requests: []}}]}",
		want:    []string{"spec.audits[0].stored.requests: Invalid value: 0: spec.audits[0].stored.requests in body should have at least 1 items"}},
	{name: "how long a number must stay the same", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create], stableFor: 0s}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create], stableFor: 11m}}]}",
		want:    []string{`spec.audits[0].stored.stableFor: Invalid value: "11m": stableFor must be a time from 0s to 10m, such as 3s`}},
	{name: "how long is waited for a number", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create], maxWait: 1h}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {path: /stats}}, value: .links, requests: [create], maxWait: 0s}}]}",
		want:    []string{`spec.audits[0].stored.maxWait: Invalid value: "0s": maxWait must be a time from 1s to 1h, such as 2m`}},
	{name: "a header of a reading", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {headers: [{name: A, value: b}]}}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {headers: [{name: A}]}}, value: .links, requests: [create]}}]}",
		want:    []string{"spec.audits[0].stored.read.headers[0]: Invalid value: exactly one of value and valueFrom must be set"}},
	{name: "an audit that reads nothing", valid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {}}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {value: .links, requests: [create]}}]}",
		want:    []string{"spec.audits[0].stored: Invalid value: exactly one of read and grpc must be set"}},
	{name: "an audit that reads by a call over another protocol", valid: "{target: {protocol: HTTP/2}, requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {grpc: {method: a.B/Count}}, value: .links, requests: [create]}}]}",
		invalid: "{requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {grpc: {method: a.B/Count}}, value: .links, requests: [create]}}]}",
		want:    []string{"spec.audits: Forbidden: grpc of an audit must not be set unless target.protocol is HTTP/2, without target.proxy"}},
	{name: "descriptors that no audit uses", valid: grpcTarget + ", requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {grpc: {method: a.B/Count}}, value: .links, requests: [create]}}]}",
		invalid: grpcTarget + ", requests: [{name: create, http: {}}], audits: [{name: links, stored: {read: {http: {}}, value: .links, requests: [create]}}]}",
		want:    []string{"spec.target.grpc: Forbidden: target.grpc must not be set unless a request, preflight or an audit has grpc: only calls of gRPC use its descriptors"}},
	{name: "an audit's metadata that follow from the call", valid: grpcAudit + "grpc: {method: a.B/Count, metadata: [{name: x, value: z}]}}}]}",
		invalid: grpcAudit + "grpc: {method: a.B/Count, metadata: [{name: te, value: z}]}}}]}",
		want:    []string{"spec.audits[0].stored.grpc.metadata: Invalid value: " + ofCall}},
	{name: "an audit with two kinds of messages", valid: grpcAudit + "grpc: {method: a.B/Count, messages: [{a: 1}]}}}]}",
		invalid: grpcAudit + "grpc: {method: a.B/Count, message: {a: 1}, messages: [{a: 1}]}}}]}",
		want:    []string{"spec.audits[0].stored.grpc: Invalid value: at most one of message and messages must be set"}},
	{name: "an audit's metadata without a value", valid: grpcAudit + "grpc: {method: a.B/Count, metadata: [{name: x, value: z}]}}}]}",
		invalid: grpcAudit + "grpc: {method: a.B/Count, metadata: [{name: x}]}}}]}",
		want:    []string{"spec.audits[0].stored.grpc.metadata[0]: Invalid value: exactly one of value and valueFrom must be set"}},
}

// grpcAudit begins a patch with an audit that reads by a call.
const grpcAudit = grpcTarget + ", requests: [{name: create, grpc: {method: a.B/C}}], audits: [{name: links, stored: {value: .links, requests: [create], "
