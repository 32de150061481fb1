package groundtruth

import (
	"strings"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A client that is not ours reads the messages of each length, and the end of the connection.
func TestMessagesOfWebSocket(t *testing.T) {
	s := start(t, Config{Record: 9, Times: 9, Routes: streams(t, map[string]string{
		"s": "stream:3:1ms:1ms:format=websocket:large=2,70000", "unended": "stream:1:1ms:1ms:format=websocket:unended", "middle": "stream:1:0s:0s:format=websocket:large=1,200",
	})})
	x := func(n int) string { return strings.Repeat("x", n) }
	for path, want := range map[string][]string{
		"s/7":       {`{"n":1}`, `{"n":2,"x":"` + x(70000) + `"}`, `{"n":3}`, `{"done":true}`},
		"unended/8": {`{"n":1}`},
		"middle/9":  {`{"n":1,"x":"` + x(200) + `"}`, `{"done":true}`},
	} {
		conn, err := websocket.Dial("ws://"+s.Address()+"/"+path, "", "http://here/")
		must.Succeed(t, err)
		must.Succeed(t, websocket.Message.Send(conn, "what is sent is not looked at"))
		var got []string
		for message := ""; websocket.Message.Receive(conn, &message) == nil; {
			got = append(got, message)
		}
		same.As(t, path, want, got)
		_ = conn.Close() // with a close frame, which the server answers by its end
	}
	got := until(t, s, func(c Counters) bool { return c.Answered == 3 && c.Open == 0 })
	same.As(t, "counts", map[string]StreamCounts{
		"s": {Begun: 1, Ended: 1, Events: 3}, "unended": {Begun: 1, Broken: 1, Events: 1}, "middle": {Begun: 1, Ended: 1, Events: 1},
	}, got.Streams)
	for _, r := range s.Records() {
		if int64(len(r.Times)) != r.Events {
			t.Errorf("record %+v", r)
		}
	}
}

func TestARequestWithoutAKeyGetsNoWebSocket(t *testing.T) {
	s := start(t, Config{Routes: streams(t, map[string]string{"s": "stream:1:0s:0s:format=websocket"})})
	c := dial(t, s.Address())
	c.get("/s")
	if rest, err := c.rest(); rest != "" || err != nil {
		t.Errorf("answered %q, %v; want the end", rest, err)
	}
	until(t, s, func(c Counters) bool { return c.Bad == 1 && c.Open == 0 })
}
