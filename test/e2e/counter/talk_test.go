package main

import (
	"strings"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestConnectionsOfWebSocketAreCounted(t *testing.T) {
	x, url := start(t, t.TempDir())
	for _, tt := range []struct {
		name, query string
		send        int
		answers     int64
	}{
		{name: "whole", send: 3, answers: 3},
		{name: "closed", query: "close=2&code=1011", send: 2, answers: 2},
		{name: "aborted", query: "abort=1", send: 1, answers: 1},
	} {
		conn, err := websocket.Dial("ws"+strings.TrimPrefix(url, "http")+"/"+tt.name+"/talk?"+tt.query, "", "http://here/")
		must.Succeed(t, err)
		for range tt.send {
			var got string
			must.Succeed(t, websocket.Message.Send(conn, "hello"))
			must.Succeed(t, websocket.Message.Receive(conn, &got))
			if got != "hello" {
				t.Errorf("%s: the answer is %q", tt.name, got)
			}
		}
		if tt.query != "" {
			var got string
			if err := websocket.Message.Receive(conn, &got); err == nil {
				t.Errorf("%s: %q came after the end", tt.name, got)
			}
		}
		must.Succeed(t, conn.Close())
		mustCount(t, x, tt.name, count{Received: 1})
		mustCount(t, x, tt.name+"-came", count{Received: int64(tt.send)})
		mustCount(t, x, tt.name+"-sent", count{Received: tt.answers})
	}
}
