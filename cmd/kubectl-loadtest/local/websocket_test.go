package local_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A user logs in by HTTP, and opens connections of WebSocket with what that captured, from the manifest to the counts
// of the target.
func TestConnectionsOfWebSocketAreOpenedHere(t *testing.T) {
	var messages, opened atomic.Int64
	talk := websocket.Server{
		Handshake: func(c *websocket.Config, r *http.Request) error {
			if r.Header.Get("X-Token") != "t1" || len(c.Protocol) != 1 || c.Protocol[0] != "v1" {
				return websocket.ErrBadWebSocketProtocol
			}
			return nil
		},
		Handler: func(conn *websocket.Conn) {
			opened.Add(1)
			for {
				var message string
				if websocket.Message.Receive(conn, &message) != nil {
					return
				}
				messages.Add(1)
				_ = websocket.Message.Send(conn, "re: "+message)
			}
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			_, _ = io.WriteString(w, `{"token": "t1"}`)
			return
		}
		talk.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, parallelism: 2,
  requests: [{name: login, http: {method: POST, path: /login}},
    {name: talk, webSocket: {path: /talk, headers: [{name: X-Token, value: "${token}"}], subprotocol: v1, send: [hello, "${user}", bye], until: "re: bye", stall: 10s}}],
  journeys: [{name: visit, steps: [{request: login, capture: {token: .token}}, {request: talk, times: 2}]}],
  thresholds: [{metric: p95, time: FirstEvent, max: 10s}, {metric: longest, time: BetweenEvents, requests: [talk], max: 10s}],
  steps: [{name: burst, users: 4, requestsPerUser: 9}]}`)
	got := carryOut(t, lt, config(t))
	isCarriedOut(t, got)
	r := got.Status.Steps[0].Result
	if r.Sent != 36 || r.Journeys[0].Completed != 12 || len(r.Requests) != 2 || r.Requests[1].Streams == nil {
		t.Fatalf("%+v", r)
	}
	streams := r.Requests[1].Streams
	same.As(t, "connections, messages, their times", []int64{24, 72, 72, 24, 48},
		[]int64{opened.Load(), messages.Load(), streams.Events, streams.FirstEvent.Samples, streams.BetweenEvents.Samples})
	if text := local.Reports(t, got)["text"]; !strings.Contains(text, "101: 24") {
		t.Errorf("the report does not say that 24 connections were opened:\n%s", text)
	}
}
