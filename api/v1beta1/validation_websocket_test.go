package v1beta1_test

// webSocketValidations are about connections of WebSocket.
var webSocketValidations = []validation{
	{name: "a connection that is a request of HTTP, too", valid: "{requests: [{name: a, webSocket: {path: /prices, headers: [{name: x, value: '${user}'}], subprotocol: v1, send: ['{\"subscribe\": \"a\"}', b], every: 100ms, until: done, stall: 5s}}]}",
		invalid: "{requests: [{name: a, http: {}, webSocket: {send: [a]}}]}",
		want:    []string{"spec.requests[0]: Invalid value: exactly one of http, grpc and webSocket must be set, such as http: {path: /health}"}},
	{name: "a connection with an expectation", valid: "{requests: [{name: a, webSocket: {send: [a]}}]}",
		invalid: "{requests: [{name: a, webSocket: {send: [a]}, expect: {status: [200]}}]}",
		want:    []string{"spec.requests[0]: Invalid value: expect must not be set with webSocket"}},
	{name: "two ends of a connection", valid: "{requests: [{name: a, webSocket: {messages: 3}}, {name: b, webSocket: {until: done}}]}",
		invalid: "{requests: [{name: a, webSocket: {messages: 3, until: done}}]}",
		want:    []string{"spec.requests[0].webSocket: Invalid value: at most one of until and messages must be set"}},
	{name: "the time between messages that are sent", valid: "{requests: [{name: a, webSocket: {send: [a, b], every: 1ms}}, {name: b, webSocket: {send: [a], every: 10m}}]}",
		invalid: "{requests: [{name: a, webSocket: {send: [a, b], every: 100us}}]}",
		want:    []string{"spec.requests[0].webSocket.every: Invalid value: \"100us\": every must be a time from 1ms to 10m, such as 100ms"}},
	{name: "the time between messages that come", valid: "{requests: [{name: a, webSocket: {messages: 1, stall: 1m30s}}]}",
		invalid: "{requests: [{name: a, webSocket: {messages: 1, stall: 11m}}]}",
		want:    []string{"spec.requests[0].webSocket.stall: Invalid value: \"11m\": stall must be a time from 1ms to 10m, such as 5s"}},
	{name: "a subprotocol", valid: "{requests: [{name: a, webSocket: {messages: 1, subprotocol: v10.stomp}}]}",
		invalid: "{requests: [{name: a, webSocket: {messages: 1, subprotocol: 'v1, v2'}}]}",
		want:    []string{"spec.requests[0].webSocket.subprotocol: Invalid value: \"v1, v2\": spec.requests[0].webSocket.subprotocol in body should match '^[-!#$%&'*+.^_`|~0-9A-Za-z]+$'"}},
	{name: "a header of a connection", valid: "{requests: [{name: a, webSocket: {messages: 1, headers: [{name: b, valueFrom: {secret: {name: c, key: d}}}]}}]}",
		invalid: "{requests: [{name: a, webSocket: {messages: 1, headers: [{name: b}]}}]}",
		want:    []string{"spec.requests[0].webSocket.headers[0]: Invalid value: exactly one of value and valueFrom must be set"}},
	{name: "the path of a connection", valid: "{requests: [{name: a, webSocket: {messages: 1, path: '/a?b=c'}}]}",
		invalid: "{requests: [{name: a, webSocket: {messages: 1, path: prices}}]}",
		want:    []string{`spec.requests[0].webSocket.path: Invalid value: "prices": spec.requests[0].webSocket.path in body should match '^/[^\r\n\x00 ]*$'`}},
}
