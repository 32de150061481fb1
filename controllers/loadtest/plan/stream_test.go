package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAStreamIsAssigned(t *testing.T) {
	for events, want := range map[v1beta1.StreamEvents]workerv1.StreamEvents{
		v1beta1.StreamSSE: workerv1.StreamEvents_STREAM_EVENTS_SSE, v1beta1.StreamLines: workerv1.StreamEvents_STREAM_EVENTS_LINES, v1beta1.StreamChunks: workerv1.StreamEvents_STREAM_EVENTS_CHUNKS,
	} {
		s := withSteps(v1beta1.Step{Name: "a", Users: ptr(int32(1)), Duration: duration(time.Second)})
		s.Requests[0].HTTP.Stream = &v1beta1.Stream{Events: events, Until: "[DONE]", Stall: duration(5 * time.Second)}
		s.Requests = append(s.Requests, v1beta1.Request{Name: "whole", HTTP: &v1beta1.HTTPRequest{}})
		got := assignments(t, s)[0].GetRequests()
		same.As(t, "stream", &workerv1.Stream{Events: want, Until: "[DONE]", StallNanos: 5_000_000_000}, got[0].GetStream(), protocmp.Transform())
		if got[1].GetStream() != nil {
			t.Errorf("a response that comes as a whole is read as %v", got[1].GetStream())
		}
	}
}

func TestStreamsThatCannotBeReadOrJudgedAreRefused(t *testing.T) {
	const none = " is of streams, and no request that the threshold is about has one; set http.stream of the request, such as {events: SSE}, or use another time or metric."
	for name, tc := range map[string]struct{ spec, want string }{
		"a time of a stream":      {`{requests: [{name: chat, http: {stream: {events: SSE}}}, {name: home, http: {}}], thresholds: [{metric: p95, time: FirstEvent, max: 1s}]}`, ""},
		"of a call":               {`{requests: [{name: watch, grpc: {method: a.B/C}}], thresholds: [{metric: p95, time: FirstEvent, max: 1s}, {metric: eventsPerSecond, min: 1}]}`, ""},
		"events of no stream":     {`{thresholds: [{metric: p95, max: 1s}, {metric: eventsPerSecond, min: 1}]}`, "spec.thresholds[1]: eventsPerSecond" + none},
		"a time of no stream":     {`{thresholds: [{metric: p95, time: MeanGap, max: 1s}]}`, "spec.thresholds[0]: time MeanGap" + none},
		"of another request":      {`{requests: [{name: chat, http: {stream: {events: SSE}}}, {name: home, http: {}}], thresholds: [{metric: p95, time: FirstEvent, max: 1s, requests: [home]}]}`, "spec.thresholds[0]: time FirstEvent" + none},
		"of requests of one type": {`{requests: [{name: chat, http: {method: POST, stream: {events: SSE}}}, {name: home, http: {}}], thresholds: [{metric: p95, time: FirstEvent, max: 1s, types: [Read]}]}`, "spec.thresholds[0]: time FirstEvent" + none},
		"of some responses":       {`{requests: [{name: chat, http: {stream: {events: SSE}}}], thresholds: [{metric: p95, time: FirstEvent, of: Expected, max: 1s}]}`, "spec.thresholds[0].of: must not be set with a threshold on the events of streams, which is of all streams."},
		"that aborts":             {`{requests: [{name: chat, http: {stream: {events: SSE}}}], thresholds: [{metric: p95, time: BetweenEvents, max: 1s, onBreach: Abort}, {metric: onTimeRate, firstEvent: 1s, min: 95%, onBreach: Abort}]}`, ""},
		"a stream without a body": {`requests: [{name: home, http: {method: HEAD, stream: {events: SSE}}}]`, "spec.requests[0].http.stream: must not be set with targets, nor with method HEAD, whose responses have no body."},
		"a stream of targets":     {`requests: [{name: home, http: {targets: {from: {configMap: {name: a, key: b}}}, stream: {events: SSE}}}]`, "spec.requests[0].http.stream: must not be set with targets, nor with method HEAD, whose responses have no body."},
		"a stream of vegeta":      {`{worker: {driver: Vegeta}, requests: [{name: home, http: {stream: {events: SSE}}}]}`, "spec.requests[0].http.stream: must not be set with worker.driver Vegeta, which reads a response as a whole; use driver Auto."},
	} {
		t.Run(name, func(t *testing.T) {
			s := yamlSpec(t, tc.spec)
			same.As(t, "refusal", tc.want, refusalOf(loadTest(s), policy.Everything()))
		})
	}
}

// A threshold on streams is one of the loads that have them.
func TestLoadsWithoutStreamsHaveNoThresholdOnThem(t *testing.T) {
	lt := sideBySide(t, `thresholds: [{metric: p95, time: FirstEvent, max: 1s}], loads: [{name: readers, requests: [follow], steps: [{name: all, rate: 500, duration: 5m}]},
		{name: buyers, journeys: [buy], after: readers, steps: [{name: all, users: 1, duration: 1s}]}]`)
	lt.Spec.Requests[1].HTTP.Stream = &v1beta1.Stream{Events: v1beta1.StreamLines}
	same.As(t, "refusal", "", refusalOf(lt, policy.Everything()))
	var got []string
	for _, one := range plan.Loads(lt) {
		got = append(got, parts(one))
	}
	same.As(t, "loads", []string{"sale-readers: follow:default, step all", "sale-buyers: create:0, pay:0, journey buy, step all, threshold p95 [][][][]"}, got)
	lt.Spec.Requests[1].HTTP.Stream = nil
	const want = "spec.thresholds[0]: time FirstEvent is of streams, and no request that the threshold is about has one; set http.stream of the request, such as {events: SSE}, or use another time or metric."
	same.As(t, "refusal", want, refusalOf(lt, policy.Everything()))
}

// What a worker that is lost told of groups is known of streams, too.
func TestStreamsAreAGroupOfTheirOwn(t *testing.T) {
	s := withSteps(v1beta1.Step{Name: "a", Users: ptr(int32(1)), Duration: duration(time.Second)})
	s.Requests = append(s.Requests, v1beta1.Request{Name: "chat", HTTP: &v1beta1.HTTPRequest{Stream: &v1beta1.Stream{Events: v1beta1.StreamSSE}}}, v1beta1.Request{Name: "other", HTTP: &v1beta1.HTTPRequest{}})
	same.As(t, "groups", []int32{0, 0, 0}, assignments(t, s)[0].GetGroups())
	s.Thresholds = []v1beta1.Threshold{{Metric: "p95", Time: v1beta1.FirstEventTime}}
	same.As(t, "groups", []int32{0, 1, 0}, assignments(t, s)[0].GetGroups())
}
