package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAConnectionOfWebSocketIsAssigned(t *testing.T) {
	for name, tt := range map[string]struct {
		spec v1beta1.WebSocket
		want *workerv1.Stream
	}{
		"as many as are sent": {v1beta1.WebSocket{Send: []string{"a", "b"}}, &workerv1.Stream{Count: 2}},
		"a number":            {v1beta1.WebSocket{Send: []string{"a", "b"}, Messages: 5}, &workerv1.Stream{Count: 5}},
		"until one":           {v1beta1.WebSocket{Send: []string{"a", "b"}, Until: "done", Stall: duration(time.Second)}, &workerv1.Stream{Until: "done", StallNanos: 1e9}},
	} {
		t.Run(name, func(t *testing.T) {
			s := withSteps(v1beta1.Step{Name: "a", Users: ptr(int32(1)), Duration: duration(time.Second)})
			s.Target.Headers = []v1beta1.Header{{Name: "Connection", Value: ptr("keep-alive")}, {Name: "X-Team", Value: ptr("a")}, {Name: "x-own", Value: ptr("b")}}
			tt.spec.Path, tt.spec.Subprotocol, tt.spec.Every, tt.spec.Headers = "/prices", "v1", duration(time.Millisecond), []v1beta1.Header{{Name: "X-Own", Value: ptr("c")}}
			s.Requests[0] = v1beta1.Request{Name: "prices", WebSocket: &tt.spec}
			tt.want.Events = workerv1.StreamEvents_STREAM_EVENTS_WEB_SOCKET
			same.As(t, "request", &workerv1.Request{
				Name: "prices", Type: "WebSocket", Weight: 1, Method: "GET", Path: "/prices", Stream: tt.want,
				Headers:   []*workerv1.Header{{Name: "X-Team", Value: "a"}, {Name: "X-Own", Value: "c"}},
				WebSocket: &workerv1.WebSocket{Subprotocol: "v1", Send: []string{"a", "b"}, EveryNanos: 1e6},
			}, assignments(t, s)[0].GetRequests()[0], protocmp.Transform())
		})
	}
}

func TestConnectionsOfWebSocketThatCannotBeOpenedAreRefused(t *testing.T) {
	const request = "requests: [{name: prices, webSocket: {send: [a]}}, {name: home, http: {}}]"
	long := strings.Repeat("x", 40_000)
	for name, tc := range map[string]struct{ spec, want string }{
		"one that can be":          {`{` + request + `, thresholds: [{metric: p95, time: FirstEvent, max: 1s, requests: [prices]}, {metric: eventsPerSecond, min: 1}]}`, ""},
		"over HTTP/2":              {`{target: {protocol: HTTP/2}, ` + request + `}`, "spec.requests[0].webSocket: must not be set with protocol HTTP/2 of its target, over which WebSocket is not supported; remove that, or add the same address to spec.otherTargets."},
		"to another over HTTP/2":   {`{otherTargets: [{name: b, url: 'http://b', protocol: HTTP/2}], requests: [{name: prices, target: b, webSocket: {send: [a]}}]}`, "spec.requests[0].webSocket: must not be set with protocol HTTP/2 of its target, over which WebSocket is not supported; remove that, or add the same address to spec.otherTargets."},
		"through a proxy":          {`{target: {proxy: {url: 'http://proxy'}}, ` + request + `}`, "spec.requests[0].webSocket: must not be set with proxy of its target, through which WebSocket is not supported."},
		"by vegeta":                {`{worker: {driver: Vegeta}, ` + request + `}`, "spec.requests[0].webSocket: must not be set with worker.driver Vegeta, which sends requests of HTTP; use driver Auto."},
		"by setup.fill":            {`{setup: {fill: {request: prices, count: 1}}, ` + request + `}`, "spec.requests[0].webSocket: must not be set of a request of spec.setup, which sends requests of HTTP and gRPC."},
		"by setup.warmUp":          {`{setup: {warmUp: {request: prices, duration: 1s}}, ` + request + `}`, "spec.requests[0].webSocket: must not be set of a request of spec.setup, which sends requests of HTTP and gRPC."},
		"with a header of its own": {`{requests: [{name: prices, webSocket: {send: [a], headers: [{name: Origin, value: a}, {name: sec-websocket-key, value: a}]}}]}`, "spec.requests[0].webSocket.headers[1].name: sec-websocket-key follows from webSocket; leave it out."},
		"every without messages":   {`{requests: [{name: prices, webSocket: {until: a, every: 1s}}]}`, "spec.requests[0].webSocket.every: must not be set without send."},
		"without an end":           {`{requests: [{name: prices, webSocket: {path: /a}}]}`, "spec.requests[0].webSocket: at least one of send, until and messages must be set."},
		"with too much to send":    {fmt.Sprintf(`{requests: [{name: prices, webSocket: {send: [%s, %s]}}]}`, long, long), "spec.requests[0].webSocket.send: must together have at most 65536 bytes."},
		"in a journey":             {`{` + request + `, journeys: [{name: visit, steps: [{request: home}, {request: prices}]}]}`, ""},
		"that a journey captures":  {`{` + request + `, journeys: [{name: visit, steps: [{request: prices, capture: {id: .id}}]}]}`, "spec.journeys[0].steps[0]: must not capture from a request with webSocket, whose messages are not kept."},
		"that a replay sends":      {`{steps: [], requests: [{name: prices, webSocket: {send: [a]}}], replay: {from: {configMap: {name: a, key: b}}, duration: 1m, routes: [{request: prices}]}}`, "spec.requests[0]: must have http without targets, since spec.replay sends lines of a log as it."},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "refusal", tc.want, refusalOf(loadTest(yamlSpec(t, tc.spec)), policy.Everything()))
		})
	}
}
