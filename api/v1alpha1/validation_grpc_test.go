package v1alpha1_test

// grpcValidations are about calls of gRPC.
var grpcValidations = []validation{
	{
		name:    "grpc of a target with another protocol",
		valid:   grpcTarget + "}",
		invalid: "{target: {grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}",
		want:    []string{"spec.target.grpc: Forbidden: grpc must not be set unless protocol is HTTP/2"},
	},
	{
		name:    "grpc of a target behind a proxy",
		valid:   grpcTarget + "}",
		invalid: "{target: {url: 'https://s', proxy: {url: 'http://proxy'}, protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}",
		want:    []string{"spec.target.grpc: Forbidden: grpc must not be set with proxy, through which no calls are sent"},
	},
	{
		name:    "a call without descriptors",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}]}",
		invalid: "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}]}",
		want:    []string{"spec.target.grpc: Required value: target.grpc must be set when a request has grpc: the messages are encoded by its descriptors"},
	},
	{
		name:    "a call of a control without descriptors",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {secretKeyRef: {name: p, key: k}}}}}}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2}}}",
		want:    []string{"spec.versus.target.grpc: Required value: versus.target.grpc must be set when a request has grpc: the messages are encoded by its descriptors"},
	},
	{
		name:    "grpc of a control with another protocol",
		valid:   grpcTarget + ", versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}}",
		invalid: "{versus: {target: {url: 'http://b', grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}}",
		want:    []string{"spec.versus.target.grpc: Forbidden: grpc must not be set unless protocol is HTTP/2"},
	},
	{
		name:    "grpc of a control behind a proxy",
		valid:   grpcTarget + ", versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}}",
		invalid: "{versus: {target: {url: 'https://b', proxy: {url: 'http://proxy'}, protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}}}",
		want:    []string{"spec.versus.target.grpc: Forbidden: grpc must not be set with proxy, through which no calls are sent"},
	},
	{
		name:    "a call by vegeta",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}], steps: [{rate: 1, duration: 1s}], worker: {driver: Auto}}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}}], steps: [{rate: 1, duration: 1s}], worker: {driver: Vegeta}}",
		want:    []string{"spec.worker.driver: Forbidden: worker.driver must not be Vegeta when a request has grpc, which it does not send"},
	},
	{
		name:    "a call that is a request of HTTP, too",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, message: {a: {b: [1, '${user}', null]}}, metadata: [{name: x, value: z}]}}]}",
		invalid: grpcTarget + ", requests: [{method: POST, grpc: {method: a.B/C}}]}",
		want:    []string{"spec.requests[0]: Invalid value: method, path, headers, body, bodyFrom and targetsFrom must not be set with grpc, which has its own method, message and metadata"},
	},
	{
		name:    "a path of a call",
		valid:   grpcTarget + ", requests: [{grpc: {method: shop.v1.Cart/Add}}, {path: /}]}",
		invalid: grpcTarget + ", requests: [{path: /, grpc: {method: a.B/C}}]}",
		want:    []string{"spec.requests[0]: Invalid value: method, path, headers, body, bodyFrom and targetsFrom must not be set with grpc, which has its own method, message and metadata"},
	},
	{
		name:    "a status of HTTP of a call",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {grpcStatus: [OK, NOT_FOUND]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {status: [200]}}]}",
		want:    []string{"spec.requests[0]: Invalid value: expect.status must not be set with grpc: it lists status codes of HTTP; set expect.grpcStatus"},
	},
	{
		name:    "a status of gRPC of a request of HTTP",
		valid:   "{requests: [{path: /, expect: {status: [404]}}]}",
		invalid: "{requests: [{path: /, expect: {grpcStatus: [NOT_FOUND]}}]}",
		want:    []string{"spec.requests[0]: Invalid value: expect.grpcStatus must not be set without grpc"},
	},
	{
		name:    "a status of gRPC in a preflight",
		valid:   "{preflight: [{request: {path: /}}]}",
		invalid: "{preflight: [{request: {path: /}, expect: {grpcStatus: [OK]}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: expect.grpcStatus must not be set for a request of preflight, which is no call of gRPC"},
	},
	{
		name:    "a status of gRPC in a preflight of a control",
		valid:   "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {grpcStatus: [OK]}}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: expect.grpcStatus must not be set for a request of preflight, which is no call of gRPC"},
	},
	{
		name:    "a status that there is not",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {grpcStatus: [UNAVAILABLE]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {grpcStatus: [Unavailable]}}]}",
		want: []string{`spec.requests[0].expect.grpcStatus[0]: Unsupported value: "Unavailable": supported values: "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", ` +
			`"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"`},
	},
	{
		name:    "a method that is none",
		valid:   grpcTarget + ", requests: [{grpc: {method: Cart/Add}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: /a.B/C}}]}",
		want:    []string{`spec.requests[0].grpc.method: Invalid value: "/a.B/C": spec.requests[0].grpc.method in body should match '^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*/[A-Za-z_][A-Za-z0-9_]*$'`},
	},
	{
		name:    "a message that is none",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, message: {}}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, message: text}}]}",
		want:    []string{`spec.requests[0].grpc.message: Invalid value: "string": spec.requests[0].grpc.message in body must be of type object: "string"`},
	},
	{
		name:    "metadata of gRPC",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, metadata: [{name: x-id-bin, value: aGk=}]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, metadata: [{name: Grpc-Timeout, value: 1S}]}}]}",
		want:    []string{"spec.requests[0].grpc.metadata: Invalid value: metadata must not have names of HTTP or gRPC, such as content-type or grpc-timeout: they follow from the call"},
	},
	{
		name:    "metadata without a value",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, metadata: [{name: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, metadata: [{name: x}]}}]}",
		want:    []string{"spec.requests[0].grpc.metadata[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
	{
		name:    "a trace header in metadata beside the target's trace",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, metadata: [{name: traceparent, value: z}]}}]}",
		invalid: "{target: {protocol: HTTP/2, trace: {sampled: 1%}, grpc: {descriptorsFrom: {configMapKeyRef: {name: p, key: k}}}}, requests: [{grpc: {method: a.B/C, metadata: [{name: x, value: z}, {name: Traceparent, value: z}]}}]}",
		want:    []string{"spec.requests: Forbidden: requests must not have traceparent in headers or metadata with target.trace, which sends it"},
	},
	{
		name:    "descriptors from nowhere",
		valid:   grpcTarget + "}",
		invalid: "{target: {protocol: HTTP/2, grpc: {descriptorsFrom: {}}}}",
		want:    []string{"spec.target.grpc.descriptorsFrom: Invalid value: exactly one of configMapKeyRef and secretKeyRef must be set"},
	},
	{
		name:    "descriptors of a control from nowhere",
		valid:   grpcTarget + "}",
		invalid: "{versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {}}}}}",
		want:    []string{"spec.versus.target.grpc.descriptorsFrom: Invalid value: exactly one of configMapKeyRef and secretKeyRef must be set"},
	},
	{
		name:    "the type of calls",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}], thresholds: [{types: [Call], metric: p95, max: 1s}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}}], thresholds: [{types: [Read], metric: p95, max: 1s}]}",
		want:    []string{"spec.thresholds: Invalid value: types of a threshold must be types of spec.requests"},
	},
}

// grpcTarget begins a patch with a target of gRPC.
const grpcTarget = "{target: {protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: protos, key: shop.binpb}}}}"
