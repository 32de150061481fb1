package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// setWebSocket makes a request the connection of WebSocket that a spec describes.
func setWebSocket(w *workerv1.Request, target *v1beta1.Target, s *v1beta1.WebSocket) {
	w.Method, w.Path = methodOf(""), pathOf(s.Path)
	w.Headers = headers(slices.DeleteFunc(slices.Clone(target.Headers), isOfWebSocket), s.Headers)
	w.WebSocket = &workerv1.WebSocket{Subprotocol: s.Subprotocol, Send: s.Send, EveryNanos: int64(v1beta1.OrZero(s.Every))}
	w.Stream = &workerv1.Stream{
		Events: workerv1.StreamEvents_STREAM_EVENTS_WEB_SOCKET,
		Until:  s.Until, Count: messagesThatCome(s), StallNanos: int64(v1beta1.OrZero(s.Stall)),
	}
}

// messagesThatCome is how many messages end a connection; 0: their number does not.
func messagesThatCome(s *v1beta1.WebSocket) int64 {
	switch {
	case s.Messages > 0:
		return s.Messages
	case s.Until != "":
		return 0
	}
	return int64(len(s.Send))
}

// isOfWebSocket says whether a header follows from WebSocket.
func isOfWebSocket(h v1beta1.Header) bool {
	switch name := strings.ToLower(h.Name); name {
	case "connection", "upgrade", "content-length", "transfer-encoding":
		return true
	default:
		return strings.HasPrefix(name, "sec-websocket-")
	}
}

// messagesLength is how long the messages of a connection are, as they stand in the spec.
func messagesLength(s *v1beta1.WebSocket) (n int) {
	for _, m := range s.Send {
		n += len(m)
	}
	return n
}

// maxSent bounds the messages that a connection sends as the API bounds a body: a rendered request is held whole.
const maxSent = 64 << 10

// checkWebSockets refuses connections of WebSocket that no worker can open.
func checkWebSockets(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		r, field := &spec.Requests[i], fmt.Sprintf("spec.requests[%d].webSocket", i)
		if r.WebSocket == nil {
			continue
		}
		if refusal := checkWebSocket(field, r.WebSocket); refusal != nil {
			return refusal
		}
		switch to := targetOf(spec, r); {
		case to.Protocol == v1beta1.ProtocolHTTP2:
			return invalid("%s: must not be set with protocol HTTP/2 of its target, over which WebSocket is not supported; remove that, or add the same address to spec.otherTargets.", field)
		case to.Proxy != nil:
			return invalid("%s: must not be set with proxy of its target, through which WebSocket is not supported.", field)
		case spec.Worker != nil && spec.Worker.Driver == v1beta1.DriverVegeta:
			return invalid("%s: must not be set with worker.driver Vegeta, which sends requests of HTTP; use driver Auto.", field)
		case spec.Setup != nil && (spec.Setup.Fill != nil && spec.Setup.Fill.Request == r.Name || spec.Setup.WarmUp != nil && spec.Setup.WarmUp.Request == r.Name):
			return invalid("%s: must not be set of a request of spec.setup, which sends requests of HTTP and gRPC.", field)
		}
	}
	return nil
}

func checkWebSocket(field string, s *v1beta1.WebSocket) *Refusal {
	i := slices.IndexFunc(s.Headers, isOfWebSocket)
	switch {
	case i >= 0:
		return invalid("%s.headers[%d].name: %s follows from webSocket; leave it out.", field, i, s.Headers[i].Name)
	case s.Every != nil && len(s.Send) == 0:
		return invalid("%s.every: must not be set without send.", field)
	case messagesLength(s) > maxSent:
		return invalid("%s.send: must together have at most %d bytes.", field, maxSent)
	case messagesThatCome(s) == 0 && s.Until == "":
		return invalid("%s: at least one of send, until and messages must be set.", field)
	}
	return nil
}
