package v1alpha1_test

// grpcValidations are about calls of gRPC.
var grpcValidations = []validation{
	{
		name:    "descriptors that no request uses",
		valid:   grpcTarget + ", requests: [{path: /}, {grpc: {method: a.B/C}}]}",
		invalid: grpcTarget + "}",
		want:    []string{"spec.target.grpc: Forbidden: target.grpc must not be set unless a request, preflight or an audit has grpc: nothing else is encoded by its descriptors"},
	},
	{
		name:    "descriptors of a control that no request uses",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {secretKeyRef: {name: p, key: k}}}}}}",
		invalid: "{target: {protocol: HTTP/2}, versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {}}}}",
		want:    []string{"spec.versus.target.grpc: Forbidden: versus.target.grpc must not be set unless a request, or a preflight of this target, has grpc: nothing else is encoded by its descriptors"},
	},
	{
		name:    "a call over another protocol",
		valid:   "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}]}",
		invalid: "{requests: [{grpc: {method: a.B/C}}]}",
		want:    []string{"spec.target.protocol: Required value: target.protocol must be HTTP/2 when a request has grpc"},
	},
	{
		name:    "a call to a control over another protocol",
		valid:   "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2}}}",
		invalid: "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b'}}}",
		want:    []string{"spec.versus.target.protocol: Required value: versus.target.protocol must be HTTP/2 when a request has grpc"},
	},
	{
		name:    "a call through a proxy",
		valid:   "{target: {protocol: HTTP/2, grpc: {}}, requests: [{grpc: {method: a.B/C}}]}",
		invalid: "{target: {url: 'https://s', proxy: {url: 'http://proxy'}, protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}]}",
		want:    []string{"spec.target.proxy: Forbidden: target.proxy must not be set when a request has grpc: no calls are sent through it"},
	},
	{
		name:    "a call to a control through a proxy",
		valid:   "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'https://b', protocol: HTTP/2}}}",
		invalid: "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'https://b', proxy: {url: 'http://proxy'}, protocol: HTTP/2}}}",
		want:    []string{"spec.versus.target.proxy: Forbidden: versus.target.proxy must not be set when a request has grpc: no calls are sent through it"},
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
		name:    "a message beside messages",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, messages: [{a: 1}, {a: '${user}'}]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, message: {}, messages: [{}]}}]}",
		want:    []string{"spec.requests[0].grpc: Invalid value: at most one of message and messages must be set"},
	},
	{
		name:    "items of a call",
		valid:   grpcTarget + ", requests: [{items: 1000000, grpc: {method: a.B/C, messages: [{}]}}], thresholds: [{metric: itemsPerSecond, min: '1'}]}",
		invalid: grpcTarget + ", requests: [{items: 1000001, grpc: {method: a.B/C}}]}",
		want:    []string{"spec.requests[0].items: Invalid value: 1000001: spec.requests[0].items in body should be less than or equal to 1000000"},
	},
	{
		name:    "messages of which there are none",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, messages: [{}]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, messages: []}}]}",
		want:    []string{"spec.requests[0].grpc.messages: Invalid value: 0: spec.requests[0].grpc.messages in body should have at least 1 items"},
	},
	{
		name:    "messages that are none",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, messages: [{}, {}]}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, messages: [{}, text]}}]}",
		want:    []string{`spec.requests[0].grpc.messages[1]: Invalid value: "string": spec.requests[0].grpc.messages[1] in body must be of type object: "string"`},
	},
	{
		name:    "another compression",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C, compression: Gzip}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C, compression: Brotli}}]}",
		want:    []string{`spec.requests[0].grpc.compression: Unsupported value: "Brotli": supported values: "Gzip"`},
	},
	{
		name:    "replies of a request of HTTP",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {replies: {min: 0, max: 10}}}]}",
		invalid: "{requests: [{path: /, expect: {replies: {min: 1}}}]}",
		want:    []string{"spec.requests[0]: Invalid value: expect.replies must not be set without grpc"},
	},
	{
		name:    "replies of a preflight",
		valid:   "{preflight: [{request: {path: /}, expect: {status: [200]}}]}",
		invalid: "{preflight: [{request: {path: /}, expect: {replies: {min: 1}}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: expect.replies must not be set without grpc"},
	},
	{
		name:    "replies of a preflight of a control",
		valid:   "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {status: [200]}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {replies: {min: 1}}}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: expect.replies must not be set without grpc"},
	},
	{
		name:    "a range of replies without bounds",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {replies: {max: 1}}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {replies: {}}}]}",
		want:    []string{"spec.requests[0].expect.replies: Invalid value: at least one of min and max must be set"},
	},
	{
		name:    "a range of replies that is empty",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {replies: {min: 2, max: 2}}}]}",
		invalid: grpcTarget + ", requests: [{grpc: {method: a.B/C}, expect: {replies: {min: 3, max: 2}}}]}",
		want:    []string{"spec.requests[0].expect.replies: Invalid value: min must not be above max"},
	},
	{
		name:    "a range of replies without bounds, of a preflight",
		valid:   "{preflight: [{request: {path: /}, expect: {status: [200]}}]}",
		invalid: "{preflight: [{request: {path: /}, expect: {replies: {}}}]}",
		want: []string{
			"spec.preflight[0].expect.replies: Invalid value: at least one of min and max must be set",
			"spec.preflight[0]: Invalid value: expect.replies must not be set without grpc",
		},
	},
	{
		name:    "a range of replies that is empty, of a preflight",
		valid:   "{preflight: [{request: {path: /}, expect: {status: [200]}}]}",
		invalid: "{preflight: [{request: {path: /}, expect: {replies: {min: 3, max: 2}}}]}",
		want: []string{
			"spec.preflight[0].expect.replies: Invalid value: min must not be above max",
			"spec.preflight[0]: Invalid value: expect.replies must not be set without grpc",
		},
	},
	{
		name:    "a range of replies without bounds, of a preflight of a control",
		valid:   "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {status: [200]}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {replies: {}}}]}}",
		want: []string{
			"spec.versus.preflight[0].expect.replies: Invalid value: at least one of min and max must be set",
			"spec.versus.preflight[0]: Invalid value: expect.replies must not be set without grpc",
		},
	},
	{
		name:    "a range of replies that is empty, of a preflight of a control",
		valid:   "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {status: [200]}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {replies: {min: 3, max: 2}}}]}}",
		want: []string{
			"spec.versus.preflight[0].expect.replies: Invalid value: min must not be above max",
			"spec.versus.preflight[0]: Invalid value: expect.replies must not be set without grpc",
		},
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
		want:    []string{"spec.preflight[0]: Invalid value: expect.grpcStatus must not be set without grpc"},
	},
	{
		name:    "a status of gRPC in a preflight of a control",
		valid:   "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{request: {path: /}, expect: {grpcStatus: [OK]}}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: expect.grpcStatus must not be set without grpc"},
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
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}]}",
		invalid: "{target: {protocol: HTTP/2, grpc: {descriptorsFrom: {}}}, requests: [{grpc: {method: a.B/C}}]}",
		want:    []string{"spec.target.grpc.descriptorsFrom: Invalid value: exactly one of configMapKeyRef and secretKeyRef must be set"},
	},
	{
		name:    "descriptors of a control from nowhere",
		valid:   grpcTarget + ", requests: [{grpc: {method: a.B/C}}]}",
		invalid: "{target: {protocol: HTTP/2}, requests: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {}}}}}",
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
