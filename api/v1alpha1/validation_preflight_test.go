package v1alpha1_test

import "strings"

// preflightValidations are about what the target is asked before a worker sends anything else.
var preflightValidations = []validation{
	{
		name:    "question without a request",
		valid:   "{preflight: [{request: {}}]}",
		invalid: "{preflight: [{name: version}]}",
		want:    []string{"spec.preflight[0].request: Required value"},
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
