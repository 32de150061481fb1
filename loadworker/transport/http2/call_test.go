package http2

import (
	"slices"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A call that is answered otherwise than gRPC has it ends in its class; where the server
// goes on, the stream is reset, and the connection serves others.
func TestAnswersToCalls(t *testing.T) {
	const id = 1
	begin := func(s *server) { s.headers(id, false, ":status", "200", "content-type", "application/grpc") }
	data := func(s *server, end bool, b ...byte) { s.must(s.WriteData(id, end, b)) }
	tests := map[string]struct {
		answer func(*server)
		want   string
		reset  bool
	}{
		"a reply": {func(s *server) {
			begin(s)
			data(s, false, 0, 0, 0, 0, 1)
			data(s, false, 'a')
			s.headers(id, true, "grpc-status", "0")
		}, "0", false},
		"after an interim response": {func(s *server) {
			s.headers(id, false, ":status", "103", "link", "x")
			begin(s)
			data(s, false, 0, 0, 0, 0, 0)
			s.headers(id, true, "grpc-status", "0")
		}, "0", false},
		"trailers only": {func(s *server) {
			s.headers(id, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "14")
		}, "14", false},
		"refused by the server":        {func(s *server) { s.must(s.WriteRSTStream(id, xhttp2.ErrCodeRefusedStream)) }, "refused", false},
		"refused by a GOAWAY":          {func(s *server) { s.must(s.WriteGoAway(0, xhttp2.ErrCodeNo, nil)) }, "refused", false},
		"reset":                        {func(s *server) { begin(s); s.must(s.WriteRSTStream(id, xhttp2.ErrCodeInternal)) }, "reset", false},
		"a status of HTTP":             {func(s *server) { s.headers(id, false, ":status", "503") }, "badResponse", true},
		"a body, and no status":        {func(s *server) { begin(s); data(s, true, 0, 0, 0, 0, 0) }, "badResponse", false},
		"a header alone":               {func(s *server) { s.headers(id, true, ":status", "200", "content-type", "application/grpc") }, "badResponse", true},
		"a second message":             {func(s *server) { begin(s); data(s, false, 0, 0, 0, 0, 0, 0) }, "badResponse", true},
		"a compressed message":         {func(s *server) { begin(s); data(s, false, 1, 0, 0, 0, 1, 'x') }, "badResponse", true},
		"a message without its end":    {func(s *server) { begin(s); data(s, false, 0, 0, 0, 0, 9, 'x'); s.headers(id, true, "grpc-status", "0") }, "badResponse", false},
		"trailers that are not theirs": {func(s *server) { begin(s); data(s, false, 0, 0, 0, 0, 0); s.headers(id, true, "x", "y") }, "badResponse", true},
		"a length that is not its own": {func(s *server) {
			s.headers(id, false, ":status", "200", "content-type", "application/grpc", "content-length", "9")
			data(s, false, 0, 0, 0, 0, 0)
			s.headers(id, true, "grpc-status", "0")
		}, "badResponse", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newClient(t), newServer()
			s.must(s.WriteSettings())
			st := c.send(&transport.Request{Method: "POST", Path: []byte("/a.B/C"), Body: []byte{0, 0, 0, 0, 0}, Keep: 10, Call: true})
			tt.answer(s)
			c.sent()
			for _, b := range s.take() {
				must.Succeed(t, c.Feed([]byte{b}))
			}
			if got := c.outcome(st); got != tt.want {
				t.Errorf("the outcome is %s, want %s: %v", got, tt.want, c.ends[st])
			}
			if got := slices.Contains(frames(t, c.sent()), "RST_STREAM 1 CANCEL"); got != tt.reset {
				t.Errorf("the stream is reset: %v, want %v", got, tt.reset)
			}
		})
	}
}

// The same header block is not decoded twice, for calls and for other requests in turn.
func TestCallsAndRequestsShareAConnection(t *testing.T) {
	c, s := newClient(t), newServer()
	s.must(s.WriteSettings())
	for i := range uint32(6) {
		r := &transport.Request{Method: "POST", Path: []byte("/a.B/C"), Keep: 10, Call: i%2 == 0}
		st := c.send(r)
		s.headers(2*i+1, false, ":status", "200", "content-type", "application/grpc")
		s.must(s.WriteData(2*i+1, false, []byte{0, 0, 0, 0, 1, 'a'}))
		s.headers(2*i+1, true, "grpc-status", "5")
		must.Succeed(t, c.Feed(s.take()))
		want := transport.Response{Status: 5, Size: 1, Body: []byte{0, 0, 0, 0, 1, 'a'}}
		if !r.Call {
			want = transport.Response{Status: 200, Size: 6, Body: []byte{0, 0, 0, 0, 1, 'a'}}
		}
		if got := st.Response(); got.Status != want.Status || got.Size != want.Size || string(got.Body) != string(want.Body) {
			t.Errorf("request %d: status %d, %q of %d bytes; want %+v", i, got.Status, got.Body, got.Size, want)
		}
	}
}
