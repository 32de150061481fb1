package http2

import (
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// streaming is a call that may have any number of replies.
func streaming(body []byte, keep int) *transport.Request {
	return &transport.Request{Method: "POST", Path: []byte("/a.B/C"), Body: body, Keep: keep, Call: true, Replies: transport.Replies{Stream: true}}
}

// A stream of replies ends with its status; one that ends otherwise has the class of how it
// ended.
func TestAnswersByAStream(t *testing.T) {
	const id = 1
	begin := func(s *server) { s.headers(id, false, ":status", "200", "content-type", "application/grpc") }
	data := func(s *server, end bool, b ...byte) { s.must(s.WriteData(id, end, b)) }
	replies := func(s *server) { begin(s); data(s, false, 0, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 2, 'b', 'c') }
	status := func(s *server, code string) { s.headers(id, true, "grpc-status", code) }
	tests := map[string]struct {
		answer  func(*server)
		want    string
		replies int64
	}{
		"replies":  {func(s *server) { replies(s); status(s, "0") }, "0", 2},
		"no reply": {func(s *server) { begin(s); status(s, "0") }, "0", 0},
		"trailers only": {func(s *server) {
			s.headers(id, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "0")
		}, "0", 0},
		"an error after replies":        {func(s *server) { replies(s); status(s, "13") }, "13", 2},
		"a GOAWAY, and the rest":        {func(s *server) { replies(s); s.must(s.WriteGoAway(id, xhttp2.ErrCodeNo, nil)); status(s, "0") }, "0", 2},
		"a GOAWAY below it":             {func(s *server) { replies(s); s.must(s.WriteGoAway(0, xhttp2.ErrCodeNo, nil)) }, "refused", 0},
		"an end after it":               {func(s *server) { replies(s); status(s, "0"); s.must(s.WriteRSTStream(id, xhttp2.ErrCodeNo)) }, "0", 2},
		"an end in place of the status": {func(s *server) { replies(s); s.must(s.WriteRSTStream(id, xhttp2.ErrCodeNo)) }, "reset", 0},
		"reset":                         {func(s *server) { replies(s); s.must(s.WriteRSTStream(id, xhttp2.ErrCodeInternal)) }, "reset", 0},
		"reset within a reply": {func(s *server) {
			replies(s)
			data(s, false, 0, 0, 0, 0, 9)
			s.must(s.WriteRSTStream(id, xhttp2.ErrCodeInternal))
		}, "reset", 0},
		"a reply cut short":   {func(s *server) { replies(s); data(s, false, 0, 0, 0, 0, 9, 'x'); status(s, "0") }, "badResponse", 0},
		"no trailers":         {func(s *server) { replies(s); data(s, true, 0, 0, 0, 0, 0) }, "badResponse", 0},
		"a flag that is none": {func(s *server) { replies(s); data(s, false, 4) }, "badResponse", 0},
		"a compressed reply":  {func(s *server) { replies(s); data(s, false, 1) }, "badResponse", 0},
		"a status in place of the first": {func(s *server) {
			s.headers(id, false, ":status", "200", "content-type", "application/grpc", "grpc-status", "0")
		}, "badResponse", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newClient(t), newServer()
			s.must(s.WriteSettings())
			st := c.send(streaming([]byte{0, 0, 0, 0, 0}, 100))
			tt.answer(s)
			for _, b := range s.take() {
				c.mustFeed([]byte{b})
			}
			if got := c.outcome(st); got != tt.want {
				t.Errorf("the outcome is %s, want %s: %v", got, tt.want, c.ends[st])
			}
			if r := st.Response(); tt.replies > 0 && (r.Replies != tt.replies || r.Size != 3 || len(r.Body) != 13) {
				t.Errorf("%d replies of %d bytes, %d are kept", r.Replies, r.Size, len(r.Body))
			}
		})
	}
}

// A stream that ends with its connection has no status.
func TestStreamEndsWithItsConnection(t *testing.T) {
	c, s := ready(t)
	st := c.send(streaming(nil, 0))
	s.headers(1, false, ":status", "200", "content-type", "application/grpc")
	s.must(s.WriteData(1, false, []byte{0, 0, 0, 0, 0}))
	s.must(s.WriteGoAway(1, xhttp2.ErrCodeInternal, nil))
	c.mustFeed(s.take())
	c.End(nil)
	if got := c.outcome(st); got != "reset" {
		t.Errorf("the outcome is %s", got)
	}
}

// What is kept of a stream has a bound, and its windows are topped up, however long it is.
func TestStreamWithoutAnEndKeepsLittle(t *testing.T) {
	const keep = 1000
	c, s := ready(t)
	endless, other := c.send(streaming(nil, keep)), c.send(streaming(nil, keep))
	c.sent()
	for _, id := range []uint32{1, 3} {
		s.headers(id, false, ":status", "200", "content-type", "application/grpc")
	}
	c.mustFeed(s.take())
	message := append([]byte{0, 0, 0, 0x3f, 0xfb}, make([]byte, 0x3ffb)...) // as large as a frame
	s.must(s.WriteData(1, false, message))
	replies := s.take()
	granted := 0
	for range wideWindow / maxFrame {
		c.mustFeed(replies)
		if b := c.sent(); len(b) > 0 {
			granted += strings.Count(strings.Join(frames(t, b), " "), "WINDOW_UPDATE 1 ")
		}
	}
	if granted != 2 {
		t.Errorf("the window was topped up %d times in two halves of it", granted)
	}
	s.must(s.WriteData(3, false, []byte{0, 0, 0, 0, 1, 'a'}))
	s.headers(3, true, "grpc-status", "0")
	c.mustFeed(s.take())
	if got := other.Response(); c.outcome(other) != "0" || got.Replies != 1 {
		t.Errorf("beside it, the outcome is %s with %d replies", c.outcome(other), got.Replies)
	}
	c.Cancel(endless)
	c.want("RST_STREAM 1 CANCEL")
	if r := endless.Response(); len(r.Body) > keep || c.InFlight() != 0 {
		t.Errorf("%d bytes are kept, %d in flight", len(r.Body), c.InFlight())
	}
}

// Replies may come before all messages are sent; the status may, too, and is the outcome.
func TestMessagesWaitForTheWindowWhileRepliesCome(t *testing.T) {
	for name, early := range map[string]bool{"all are sent": false, "the call ends before": true} {
		t.Run(name, func(t *testing.T) {
			c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 10})
			st := c.send(streaming(make([]byte, 25), 100))
			c.want("HEADERS 1 DATA 1 10 false")
			s.headers(1, false, ":status", "200", "content-type", "application/grpc")
			s.must(s.WriteData(1, false, []byte{0, 0, 0, 0, 1, 'a'}))
			s.must(s.WriteWindowUpdate(1, 5))
			c.mustFeed(s.take())
			c.want("DATA 1 5 false")
			want := "RST_STREAM 1 NO_ERROR"
			if !early {
				s.must(s.WriteWindowUpdate(1, 10))
				c.mustFeed(s.take())
				c.want("DATA 1 10 true")
				want = ""
			}
			s.must(s.WriteData(1, false, []byte{0, 0, 0, 0, 1, 'b'}))
			s.headers(1, true, "grpc-status", "8")
			s.must(s.WriteRSTStream(1, xhttp2.ErrCodeNo))
			c.mustFeed(s.take())
			c.want(want)
			if r := st.Response(); c.outcome(st) != "8" || r.Replies != 2 || c.blocked != 0 {
				t.Errorf("outcome %s with %d replies, %d blocked", c.outcome(st), r.Replies, c.blocked)
			}
		})
	}
}

// Compressed replies are accepted only of a call that says so.
func TestCompressedRepliesAreAccepted(t *testing.T) {
	for encoding, want := range map[string]string{"gzip": "0", "br": "badResponse", "": "badResponse"} {
		c, s := ready(t)
		r := streaming(nil, 100)
		r.Replies.Gzip = true
		st := c.send(r)
		fields := []string{":status", "200", "content-type", "application/grpc"}
		if encoding != "" {
			fields = append(fields, "grpc-encoding", encoding)
		}
		s.headers(1, false, fields...)
		s.must(s.WriteData(1, false, []byte{1, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 1, 'b'}))
		if want == "0" {
			s.headers(1, true, "grpc-status", "0")
		}
		c.mustFeed(s.take())
		if got := c.outcome(st); got != want {
			t.Errorf("of encoding %q the outcome is %s, want %s: %v", encoding, got, want, c.ends[st])
		}
		if got := slices.Contains(frames(t, c.sent()), "RST_STREAM 1 CANCEL"); got != (want != "0") {
			t.Errorf("of encoding %q, the stream is reset: %v", encoding, got)
		}
	}
}
