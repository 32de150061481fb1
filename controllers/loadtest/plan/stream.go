package plan

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

var streamEvents = map[v1beta1.StreamEvents]workerv1.StreamEvents{
	v1beta1.StreamSSE:    workerv1.StreamEvents_STREAM_EVENTS_SSE,
	v1beta1.StreamLines:  workerv1.StreamEvents_STREAM_EVENTS_LINES,
	v1beta1.StreamChunks: workerv1.StreamEvents_STREAM_EVENTS_CHUNKS,
}

// stream is how a worker reads a response that comes in parts; nil: as a whole.
func stream(s *v1beta1.Stream) *workerv1.Stream {
	if s == nil {
		return nil
	}
	m := &workerv1.Stream{Events: streamEvents[s.Events], Until: s.Until, StallNanos: int64(v1beta1.OrZero(s.Stall))}
	if s.Tokens != nil {
		m.InputTokens, m.OutputTokens = string(s.Tokens.Input), string(s.Tokens.Output)
	}
	return m
}

// MayStream says whether responses to a request may come in parts. Of a call of gRPC, only the worker knows
// whether its method returns a stream.
func MayStream(r *v1beta1.Request) bool {
	return r.GRPC != nil || r.WebSocket != nil || httpOf(r).Stream != nil
}

// Judges says whether a threshold is about the request of that index, as IsAbout does, and can judge it: one
// on the events of streams leaves out requests whose responses come as a whole.
func Judges(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold, requests []v1beta1.RequestStatus, i int) bool {
	return IsAbout(t, requests, i) && (!t.OfStreams() || i < len(spec.Requests) && MayStream(&spec.Requests[i]))
}

// hasStreams says whether a threshold on the events of streams is about a request that may have them.
func hasStreams(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) bool {
	requests := RequestNames(spec)
	for i := range requests {
		if Judges(spec, t, requests, i) {
			return true
		}
	}
	return false
}

// checkStreams refuses streams that no worker can read.
func checkStreams(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		h, field := httpOf(&spec.Requests[i]), fmt.Sprintf("spec.requests[%d].http.stream", i)
		switch {
		case h.Stream == nil:
		case h.Targets != nil || h.Method == "HEAD":
			return invalid("%s: must not be set with targets, nor with method HEAD, whose responses have no body.", field)
		case spec.Worker != nil && spec.Worker.Driver == v1beta1.DriverVegeta:
			return invalid("%s: must not be set with worker.driver Vegeta, which reads a response as a whole; use driver Auto.", field)
		}
	}
	return nil
}

// checkOfStreams refuses a threshold on the events of streams where there are none.
func checkOfStreams(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		switch {
		case !t.OfStreams():
		case t.Of != "":
			return invalid("spec.thresholds[%d].of: must not be set with a threshold on the events of streams, which is of all streams.", i)
		case !hasStreams(spec, t):
			return invalid("spec.thresholds[%d]: %s is of streams, and no request that the threshold is about has one; set http.stream of the request, such as {events: SSE}, or use another time or metric.", i, streamed(t))
		}
	}
	return nil
}

// streamed is what of a threshold is of streams.
func streamed(t *v1beta1.Threshold) string {
	if t.Time.IsOfStreams() {
		return "time " + string(t.Time)
	}
	return string(t.Metric)
}
