package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	server "golang.org/x/net/websocket"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/websocket"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// overWebSocket drives requests of WebSocket, which no event loop takes.
var overWebSocket = testDriver{engine: "goroutines", over: "websocket", client: func(d *dial.Dialer) transport.Client { return websocket.NewClient(d, "test") }}

// talk is a request of WebSocket that ends with so many messages.
func talk(path string, count int64, send ...string) source.Request {
	r := of(path, transport.Stream{Events: transport.WebSocketMessages, Count: count, Stall: time.Second})
	r.WebSocket = &source.WebSocket{Send: send}
	return r
}

// The times of messages are those of the server's script, and of round trips where each message that is sent waits
// for one; what ends a connection too early is an outcome.
func TestTimesOfMessagesOfWebSocketAreExact(t *testing.T) {
	const first, gap, trip = 200 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond
	scripts := map[string]script{
		"feed":   {first, "a", gap, "b", gap, "c"},
		"early":  {first, "a"},
		"stalls": {first, "a", 2 * time.Second},
	}
	serve := server.Server{Handler: func(conn *server.Conn) {
		path := strings.TrimPrefix(conn.Request().URL.Path, "/")
		for _, step := range scripts[path] {
			switch step := step.(type) {
			case time.Duration:
				<-time.After(step)
			case string:
				_ = server.Message.Send(conn, step)
			}
		}
		if path == "early" {
			if w, err := conn.NewFrameWriter(server.CloseFrame); err == nil {
				_, _ = w.Write([]byte{1013 >> 8, 1013 & 0xff})
			}
			return
		}
		for message := ""; server.Message.Receive(conn, &message) == nil; {
			<-time.After(trip)
			_ = server.Message.Send(conn, message)
		}
	}}
	overWebSocket.virtually(t, func(t *testing.T, d testDriver) {
		requests := []source.Request{talk("feed", 3), talk("talk", 3, "a", "b", "c"), talk("early", 2), talk("stalls", 2), talk("none", 1)}
		o := d.oracle(t, serve.ServeHTTP)
		r := d.runner(t, setup{url: o.URL, requests: requests, timeout: 10 * time.Second})
		n := int64(len(requests))
		m := drive(t, r, arrivalsStep(pace.Rate(n*1e6), time.Second))
		for i, want := range []struct {
			outcome measure.Outcome
			events  int64
			times   [measure.NumStreamTimes][]time.Duration
		}{
			{measure.Success, 3, [...][]time.Duration{{first}, {gap, gap}, {gap}, {gap}}},
			{measure.Success, 3, [...][]time.Duration{{trip}, {trip, trip}, {trip}, {trip}}},
			{measure.EndedEarly, 1, [...][]time.Duration{{first}, nil, nil, nil}},
			{measure.Stalled, 1, [...][]time.Duration{{first}, nil, {time.Second}, nil}},
			{measure.Timeout, 0, [...][]time.Duration{{10 * time.Second}, nil, nil, nil}}, // it has waited so long
		} {
			q := &m.Requests[i]
			same.As(t, requests[i].Name, map[string]int64{want.outcome.String(): 1}, outcomes(*q))
			same.As(t, "events", want.events, q.Streams.Events)
			for at := range want.times {
				same.As(t, fmt.Sprintf("times %d of %s", at, requests[i].Name), want.times[at], timesOf(q.Streams.Times[at]))
				same.As(t, fmt.Sprintf("ideal times %d of %s", at, requests[i].Name), want.times[at], timesOf(q.Streams.Ideally(measure.StreamTime(at))))
			}
		}
		same.As(t, "error", `request "get /early": the server closed the connection with code 1013 after 1 message, before the last one`, m.Requests[2].Errors[measure.EndedEarly])
	})
}
