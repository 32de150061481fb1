package assemble

import (
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/websocket"
)

// mixOf says which requests an assignment has for a target, which is 0 for the first.
func mixOf(a *workerv1.Assignment, target int) (webSockets, others bool) {
	for _, r := range a.GetRequests() {
		if int(r.GetTarget()) == target {
			webSockets, others = webSockets || isWebSocket(r), others || !isWebSocket(r)
		}
	}
	return webSockets, others
}

func isWebSocket(r *workerv1.Request) bool { return r.GetWebSocket() != nil }

// apart is to how many targets users have a connection for requests of WebSocket beside that for others.
func apart(a *workerv1.Assignment) (n int) {
	for target := range 1 + len(a.GetOtherTargets()) {
		if webSockets, others := mixOf(a, target); webSockets && others {
			n++
		}
	}
	return n
}

// webSocketMemory is what a connection of WebSocket takes beyond one of HTTP: the buffer of its reads, and its
// goroutines, of which there are two if messages are sent by the clock. Such a connection was measured as those of
// connectionMemory are, with the memory for that: 22.2 KB, and 52.6 KB over TLS.
const webSocketMemory = 16 * kib

// webSocketsMemory is what connections of WebSocket take of each user, beside those to each target.
func webSocketsMemory(a *workerv1.Assignment) (n int64) {
	for i, t := range append([]*workerv1.Target{a.GetTarget()}, a.GetOtherTargets()...) {
		webSockets, others := mixOf(a, i)
		if webSockets {
			n += webSocketMemory
		}
		if webSockets && others {
			n += connectionMemory(t, a.GetDriver())
		}
	}
	return n
}

// withWebSockets is a client of all targets of an assignment, of which clients has one each, that sends their
// requests of WebSocket by clients of its own.
func withWebSockets(clients []transport.Client, a *workerv1.Assignment, c Config) (transport.Client, error) {
	list, mixed := make([]transport.Client, len(clients)), false
	for i, t := range append([]*workerv1.Target{a.GetTarget()}, a.GetOtherTargets()...) {
		webSockets, others := mixOf(a, i)
		if !webSockets {
			continue
		}
		if i > 0 {
			c.policy = c.otherPolicies[i-1]
		}
		dialer, err := newDialer(t, c)
		if err != nil {
			return nil, err
		}
		if list[i], mixed = websocket.NewClient(dialer, agent(c)), mixed || others; !others {
			clients[i], list[i] = list[i], nil
		}
	}
	switch {
	case mixed:
		return transport.NewMixed(clients, list), nil
	case len(clients) > 1:
		return transport.NewRouted(clients...), nil
	}
	return clients[0], nil
}

// checkWebSockets refuses requests of WebSocket by what cannot send them.
func checkWebSockets(a *workerv1.Assignment) error {
	var errs []error
	for i, r := range a.GetRequests() {
		if !isWebSocket(r) {
			continue
		}
		to, err := targetOf(r, a)
		switch {
		case err != nil: // it is told elsewhere
		case a.GetDriver() == workerv1.Driver_DRIVER_VEGETA:
			err = errors.New("is not sent by worker.driver Vegeta; use driver Auto")
		case to.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2:
			err = errors.New("goes over HTTP/1.1; leave out target.protocol")
		case to.GetProxyUrl() != "":
			err = errors.New("does not go through target.proxy")
		case isOfSetup(a, i):
			err = errors.New("cannot be sent by setup")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: webSocket: %w", r.GetName(), err))
		}
	}
	return errors.Join(errs...)
}

// isOfSetup says whether the setup sends a request.
func isOfSetup(a *workerv1.Assignment, request int) bool {
	s := a.GetSetup()
	return s.GetFill() != nil && int(s.GetFill().GetRequest()) == request || s.GetWarmUp() != nil && int(s.GetWarmUp().GetRequest()) == request
}
