package v1alpha1_test

import "strings"

// grpcMix are requests beside grpcTarget, one of which is a call.
const (
	grpcMix = ", requests: [{path: /}, {grpc: {method: a.B/C}}], "
	ofCall  = "metadata must not have names of HTTP or gRPC, such as content-type or grpc-timeout: they follow from the call"

	grpcVersus = grpcTarget + grpcMix + "versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {descriptorsFrom: {secretKeyRef: {name: p, key: k}}}}, "
)

// preflightValidations are about what the target is asked before a worker sends anything else.
var preflightValidations = []validation{
	{
		name:    "question without a request",
		valid:   "{preflight: [{request: {}}]}",
		invalid: "{preflight: [{name: version}]}",
		want:    []string{"spec.preflight[0]: Invalid value: exactly one of request, grpc and grpcHealth must be set"},
	},
	{
		name:    "question that is a request and a call",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, message: {a: 1}, metadata: [{name: x, value: z}]}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{request: {}, grpc: {method: a.B/C}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: exactly one of request, grpc and grpcHealth must be set"},
	},
	{
		name:    "question that is a call and one of health",
		valid:   grpcTarget + grpcMix + "preflight: [{grpcHealth: {service: shop.v1.Cart}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C}, grpcHealth: {}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: exactly one of request, grpc and grpcHealth must be set"},
	},
	{
		name:    "question of gRPC with a status of HTTP",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C}, expect: {grpcStatus: [OK, NOT_FOUND], json: [{path: .a, equals: 1}]}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C}, expect: {status: [200]}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: expect.status must not be set without request: it lists status codes of HTTP; with grpc, set expect.grpcStatus"},
	},
	{
		name:    "question of health with an expectation",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{name: alive, grpcHealth: {}}]}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {}, expect: {json: [{path: .status, equals: SERVING}]}}]}",
		want:    []string{"spec.preflight[0]: Invalid value: expect must not be set with grpcHealth, which expects SERVING"},
	},
	{
		name:    "question of health with a service that is none",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {service: my-shop/v1_a.B}}]}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {service: '${user}'}}]}",
		want:    []string{`spec.preflight[0].grpcHealth.service: Invalid value: "${user}": spec.preflight[0].grpcHealth.service in body should match '^[-A-Za-z0-9_./]+$'`},
	},
	{
		name:    "question of health over HTTP/1.1",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {}}]}",
		invalid: "{preflight: [{request: {}}, {grpcHealth: {}}]}",
		want:    []string{"spec.preflight: Forbidden: grpc and grpcHealth must not be set unless target.protocol is HTTP/2, without target.proxy"},
	},
	{
		name:    "question of health through a proxy",
		valid:   "{target: {url: 'https://s', protocol: HTTP/2}, preflight: [{grpcHealth: {}}]}",
		invalid: "{target: {url: 'https://s', protocol: HTTP/2, proxy: {url: 'http://proxy'}}, preflight: [{grpcHealth: {}}]}",
		want:    []string{"spec.preflight: Forbidden: grpc and grpcHealth must not be set unless target.protocol is HTTP/2, without target.proxy"},
	},
	{
		name:    "question of health to a control over HTTP/1.1",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {}}], versus: {target: {url: 'http://b'}, preflight: [{request: {}}]}}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {}}], versus: {target: {url: 'http://b'}}}",
		want:    []string{"spec.versus.target: Forbidden: protocol must be HTTP/2, without proxy, for a target that is asked a preflight with grpc or grpcHealth"},
	},
	{
		name:    "question of health to a control whose own questions are none",
		valid:   "{target: {protocol: HTTP/2, grpc: {}}, preflight: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {}}, preflight: []}}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpcHealth: {}}], versus: {target: {url: 'http://b'}, preflight: []}}",
		want:    []string{"spec.versus.target: Forbidden: protocol must be HTTP/2, without proxy, for a target that is asked a preflight with grpc or grpcHealth"},
	},
	{
		name:    "question of health to a control alone, over HTTP/1.1",
		valid:   "{versus: {target: {url: 'http://b', protocol: HTTP/2}, preflight: [{grpcHealth: {}}]}}",
		invalid: "{versus: {target: {url: 'http://b'}, preflight: [{grpcHealth: {}}]}}",
		want:    []string{"spec.versus.target: Forbidden: protocol must be HTTP/2, without proxy, for a target that is asked a preflight with grpc or grpcHealth"},
	},
	{
		name:    "question by a call over another protocol",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpc: {method: a.B/C}}]}",
		invalid: "{preflight: [{grpc: {method: a.B/C}}]}",
		want:    []string{"spec.preflight: Forbidden: grpc and grpcHealth must not be set unless target.protocol is HTTP/2, without target.proxy"},
	},
	{
		name:    "question by a call to a control over another protocol",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2}}}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b'}}}",
		want:    []string{"spec.versus.target: Forbidden: protocol must be HTTP/2, without proxy, for a target that is asked a preflight with grpc or grpcHealth"},
	},
	{
		name:    "descriptors that no question uses",
		valid:   grpcTarget + ", requests: [{path: /}], preflight: [{grpc: {method: a.B/C}}]}",
		invalid: grpcTarget + ", requests: [{path: /}], preflight: [{grpcHealth: {}}]}",
		want:    []string{"spec.target.grpc: Forbidden: target.grpc must not be set unless a request, preflight or an audit has grpc: nothing else is encoded by its descriptors"},
	},
	{
		name:    "descriptors of a control that no question uses",
		valid:   "{target: {protocol: HTTP/2}, preflight: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {}}}}",
		invalid: "{target: {protocol: HTTP/2}, preflight: [{grpc: {method: a.B/C}}], versus: {target: {url: 'http://b', protocol: HTTP/2, grpc: {}}, preflight: [{grpcHealth: {}}]}}",
		want:    []string{"spec.versus.target.grpc: Forbidden: versus.target.grpc must not be set unless a request, or a preflight of this target, has grpc: nothing else is encoded by its descriptors"},
	},
	{
		name:    "question's metadata that follow from the call",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: host, value: shop}]}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: ':authority', value: evil}]}}]}",
		want: []string{`spec.preflight[0].grpc.metadata[0].name: Invalid value: ":authority": spec.preflight[0].grpc.metadata[0].name in body should match ` +
			"'^[-!#$%&'*+.^_`|~0-9A-Za-z]+$'"},
	},
	{
		name:    "question's metadata of gRPC",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x-id-bin, value: aGk=}]}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: content-length, value: '1'}]}}]}",
		want:    []string{"spec.preflight[0].grpc.metadata: Invalid value: " + ofCall},
	},
	{
		name:    "question's metadata without a value",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x}]}}]}",
		want:    []string{"spec.preflight[0].grpc.metadata[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
	{
		name:    "question with two kinds of messages",
		valid:   grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, messages: [{a: 1}]}, expect: {replies: {min: 1}}}]}",
		invalid: grpcTarget + grpcMix + "preflight: [{grpc: {method: a.B/C, message: {a: 1}, messages: [{a: 1}]}}]}",
		want:    []string{"spec.preflight[0].grpc: Invalid value: at most one of message and messages must be set"},
	},
	{
		name:    "question to a control with two kinds of messages",
		valid:   grpcVersus + "preflight: [{grpc: {method: a.B/C, messages: [{a: 1}]}}]}}",
		invalid: grpcVersus + "preflight: [{grpc: {method: a.B/C, message: {a: 1}, messages: [{a: 1}]}}]}}",
		want:    []string{"spec.versus.preflight[0].grpc: Invalid value: at most one of message and messages must be set"},
	},
	{
		name:    "question to a control that is none",
		valid:   grpcVersus + "preflight: [{grpc: {method: a.B/C}, expect: {grpcStatus: [OK]}}]}}",
		invalid: grpcVersus + "preflight: [{name: a}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: exactly one of request, grpc and grpcHealth must be set"},
	},
	{
		name:    "question of gRPC to a control with a status of HTTP",
		valid:   grpcVersus + "preflight: [{request: {}, expect: {status: [200]}}]}}",
		invalid: grpcVersus + "preflight: [{grpc: {method: a.B/C}, expect: {status: [200]}}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: expect.status must not be set without request: it lists status codes of HTTP; with grpc, set expect.grpcStatus"},
	},
	{
		name:    "question of health to a control with an expectation",
		valid:   grpcVersus + "preflight: [{grpcHealth: {}}]}}",
		invalid: grpcVersus + "preflight: [{grpcHealth: {}, expect: {maxBytes: 9}}]}}",
		want:    []string{"spec.versus.preflight[0]: Invalid value: expect must not be set with grpcHealth, which expects SERVING"},
	},
	{
		name:    "metadata of gRPC of a question to a control",
		valid:   grpcVersus + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x, value: z}]}}]}}",
		invalid: grpcVersus + "preflight: [{grpc: {method: a.B/C, metadata: [{name: Te, value: z}]}}]}}",
		want:    []string{"spec.versus.preflight[0].grpc.metadata: Invalid value: " + ofCall},
	},
	{
		name:    "metadata without a value of a question to a control",
		valid:   grpcVersus + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x, value: z}]}}]}}",
		invalid: grpcVersus + "preflight: [{grpc: {method: a.B/C, metadata: [{name: x}]}}]}}",
		want:    []string{"spec.versus.preflight[0].grpc.metadata[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
	{
		name:    "question with an empty name",
		valid:   "{preflight: [{name: v, request: {}}, {name: v, request: {}}]}",
		invalid: "{preflight: [{name: '', request: {}}]}",
		want:    []string{`spec.preflight[0].name: Invalid value: "": spec.preflight[0].name in body should be at least 1 chars long`},
	},
	{
		name:    "question's path",
		valid:   "{preflight: [{request: {path: '/version?full=${rand:1-9}'}}]}",
		invalid: "{preflight: [{request: {path: version}}]}",
		want:    []string{`spec.preflight[0].request.path: Invalid value: "version": spec.preflight[0].request.path in body should match '^/[^\r\n\x00 ]*$'`},
	},
	{
		name:    "question's header without a value",
		valid:   "{preflight: [{request: {headers: [{name: a, valueFrom: {secretKeyRef: {name: api, key: token}}}]}}]}",
		invalid: "{preflight: [{request: {headers: [{name: a}]}}]}",
		want:    []string{"spec.preflight[0].request.headers[0]: Invalid value: exactly one of value and valueFrom must be set"},
	},
	{
		name:    "answer with a status that is none",
		valid:   "{preflight: [{request: {}, expect: {status: [503], json: [{path: .ready, equals: 'false'}], maxBytes: 100}}]}",
		invalid: "{preflight: [{request: {}, expect: {status: [199]}}]}",
		want:    []string{"spec.preflight[0].expect.status[0]: Invalid value: 199: spec.preflight[0].expect.status[0] in body should be greater than or equal to 200"},
	},
	{
		name:    "too many questions",
		valid:   "{preflight: [" + strings.Repeat("{request: {}},", 16) + "]}",
		invalid: "{preflight: [" + strings.Repeat("{request: {}},", 17) + "]}",
		want:    []string{"spec.preflight: Too many: 17: must have at most 16 items"},
	},
}
