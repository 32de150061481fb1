package http2

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// sendStream sends a request whose response is read as a stream of events.
func (c *client) sendStream(r transport.Request, of transport.Stream) (*Stream, *scripted.Watcher) {
	w := &scripted.Watcher{}
	r.Stream, r.Watcher = &of, w
	if r.Method == "" {
		r.Method, r.Path = "GET", []byte("/")
	}
	st := c.send(&r)
	st.beginStream(&r, time.Hour)
	return st, w
}

// Events are those of a response in whatever pieces its frames come.
func TestEventsOfFrames(t *testing.T) {
	const id = 1
	begin := func(s *server, status string) { s.headers(id, false, ":status", status) }
	data := func(s *server, end bool, text string) { s.must(s.WriteData(id, end, []byte(text))) }
	call := transport.Request{Method: "POST", Path: []byte("/a.B/C"), Call: true, Replies: transport.Replies{Stream: true}, Keep: 100}
	reply := func(s *server, text string) { data(s, false, "\x00\x00\x00\x00"+string(rune(len(text)))+text) }
	beginCall := func(s *server) { s.headers(id, false, ":status", "200", "content-type", "application/grpc") }
	sse, chunks, lines, messages := transport.ServerSentEvents, transport.Chunks, transport.Lines, transport.Messages
	for name, tt := range map[string]struct {
		request transport.Request
		format  transport.EventFormat
		until   string
		answer  func(*server)
		want    transport.Streamed
		outcome string
	}{
		"in a frame each":  {format: sse, answer: func(s *server) { begin(s, "200"); data(s, false, "data: a\n\n"); data(s, true, "data: b\n\n") }, want: transport.Streamed{Events: 2}, outcome: "200"},
		"across frames":    {format: sse, answer: func(s *server) { begin(s, "200"); data(s, false, "data: a\n\nda"); data(s, true, "ta: b\n\n") }, want: transport.Streamed{Events: 2}, outcome: "200"},
		"before a trailer": {format: sse, answer: func(s *server) { begin(s, "200"); data(s, false, "data: a\n\n"); s.headers(id, true, "x", "data: b") }, want: transport.Streamed{Events: 1}, outcome: "200"},
		"the last line":    {format: lines, until: "b", answer: func(s *server) { begin(s, "200"); data(s, false, "a\nb"); s.headers(id, true, "x", "y") }, want: transport.Streamed{Events: 2, Ended: true}, outcome: "200"},
		"the last line cut": {format: lines, answer: func(s *server) {
			begin(s, "200")
			data(s, false, "a\nb")
			s.must(s.WriteRSTStream(id, xhttp2.ErrCodeInternal))
		}, want: transport.Streamed{Events: 1}, outcome: "reset"},
		"frames": {format: chunks, until: "cd", answer: func(s *server) {
			begin(s, "200")
			data(s, false, "ab")
			data(s, false, "")
			s.must(s.WriteDataPadded(id, false, []byte("cd"), make([]byte, 5)))
			data(s, true, "ef")
		}, want: transport.Streamed{Events: 2, Ended: true}, outcome: "200"},
		"frames of padding": {format: chunks, answer: func(s *server) {
			begin(s, "200")
			s.must(s.WriteDataPadded(id, false, nil, make([]byte, 5)))
			data(s, true, "")
		}, outcome: "200"},
		"a frame that is cut": {format: chunks, answer: func(s *server) {
			begin(s, "200")
			data(s, false, "ab")
			s.must(s.WriteRSTStream(id, xhttp2.ErrCodeInternal))
		}, want: transport.Streamed{Events: 1}, outcome: "reset"},
		"reset after the last event": {format: sse, until: "a", answer: func(s *server) {
			begin(s, "200")
			data(s, false, "data: a\n\ndata: b\n\n")
			s.must(s.WriteRSTStream(id, xhttp2.ErrCodeCancel))
		}, want: transport.Streamed{Events: 1, Ended: true, Left: true}, outcome: "200"},
		"a frame that is none after the last event": {format: sse, until: "a", answer: func(s *server) {
			begin(s, "200")
			data(s, false, "data: a\n\n")
			s.headers(id, true, ":status", "200")
		}, want: transport.Streamed{Events: 1, Ended: true}, outcome: "badResponse"},
		"of an error":             {format: sse, answer: func(s *server) { begin(s, "404"); data(s, true, "data: a\n\n") }, outcome: "404"},
		"of status 204":           {format: sse, answer: func(s *server) { s.headers(id, true, ":status", "204") }, outcome: "204"},
		"to HEAD":                 {request: transport.Request{Method: "HEAD", Path: []byte("/")}, answer: func(s *server) { s.headers(id, true, ":status", "200", "content-length", "9") }, outcome: "200"},
		"after an interim header": {format: sse, answer: func(s *server) { begin(s, "103"); begin(s, "200"); data(s, true, "data: a\n\n") }, want: transport.Streamed{Events: 1}, outcome: "200"},
		"messages": {request: call, format: messages, answer: func(s *server) {
			beginCall(s)
			reply(s, "")
			reply(s, "abc")
			data(s, false, "\x00\x00\x00\x00\x01d\x00\x00")
			data(s, false, "\x00\x00\x02ef")
			s.headers(id, true, "grpc-status", "0")
		}, want: transport.Streamed{Events: 4}, outcome: "0"},
		"messages before an error": {request: call, format: messages, answer: func(s *server) {
			beginCall(s)
			reply(s, "abc")
			s.headers(id, true, "grpc-status", "13")
		}, want: transport.Streamed{Events: 1}, outcome: "13"},
		"messages until the last one": {request: call, format: messages, until: "ef", answer: func(s *server) {
			beginCall(s)
			reply(s, "ef")
			reply(s, "gh")
			s.must(s.WriteRSTStream(id, xhttp2.ErrCodeCancel))
		}, want: transport.Streamed{Events: 1, Ended: true, Left: true}, outcome: "0"},
		"a message that is cut": {request: call, format: messages, answer: func(s *server) {
			beginCall(s)
			reply(s, "abc")
			data(s, false, "\x00\x00\x00\x00\x09d")
			s.headers(id, true, "grpc-status", "0")
		}, want: transport.Streamed{Events: 1}, outcome: "badResponse"},
		"a call without messages": {request: call, format: messages, answer: func(s *server) {
			s.headers(id, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "5")
		}, outcome: "5"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1 << 20} {
				c, s := ready(t)
				st, w := c.sendStream(tt.request, transport.Stream{Events: tt.format, Until: tt.until})
				tt.answer(s)
				for piece := range slices.Chunk(s.take(), size) {
					c.mustFeed(piece)
				}
				if got := st.events.Streamed(); got != tt.want || w.Sum() != int(tt.want.Events) || c.outcome(st) != tt.outcome {
					t.Errorf("in pieces of %d: %+v in the reads %v, %s; want %+v, %s", size, got, w.Calls, c.outcome(st), tt.want, tt.outcome)
				}
				if size == 1 && len(w.Calls) != int(tt.want.Events) {
					t.Errorf("byte by byte, the events come in the reads %v", w.Calls)
				}
				if size == 1<<20 && len(w.Calls) > 1 {
					t.Errorf("one read is told of by %v", w.Calls)
				}
			}
		})
	}
}

// Each stream is told of its own events, once for each read, before its outcome.
func TestEventsOfStreamsSideBySide(t *testing.T) {
	c, s := ready(t)
	a, ofA := c.sendStream(transport.Request{}, transport.Stream{})
	b, ofB := c.sendStream(transport.Request{}, transport.Stream{Until: "last"})
	other := c.get()
	event := func(id uint32, text string, end bool) { s.must(s.WriteData(id, end, []byte("data: "+text+"\n\n"))) }
	for _, id := range []uint32{1, 3, 5} {
		s.headers(id, false, ":status", "200")
	}
	event(1, "a", false)
	event(3, "b", false)
	event(1, "c", false)
	event(5, "d", false)
	c.mustFeed(s.take())
	event(3, "last", false)
	event(3, "more", false)
	event(1, "e", true)
	c.mustFeed(s.take())
	if fmt.Sprint(ofA.Calls, ofB.Calls) != "[2 1] [1 1]" || c.outcome(a) != "200" || c.outcome(b) != "" || c.outcome(other) != "" {
		t.Errorf("%v, %v; %q, %q", ofA.Calls, ofB.Calls, c.outcome(a), c.outcome(b))
	}
	c.End(nil)
	if c.outcome(b) != "200" || !b.events.Streamed().Left || c.outcome(other) != "reset" {
		t.Errorf("after the end of the connection: %q, %+v, %q", c.outcome(b), b.events.Streamed(), c.outcome(other))
	}
}

// What came of a response that the client leaves is kept; of one that it cancels, it is not.
func TestLeavingKeepsWhatCame(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*client, *Stream)
		want string
	}{
		"left":      {func(c *client, st *Stream) { c.Leave(st) }, "data: a\n\n"},
		"cancelled": {func(c *client, st *Stream) { c.Cancel(st) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := ready(t)
			st, _ := c.sendStream(transport.Request{Keep: 100}, transport.Stream{Until: "a"})
			c.sent()
			s.headers(1, false, ":status", "200")
			s.must(s.WriteData(1, false, []byte("data: a\n\n")))
			c.mustFeed(s.take())
			tt.end(c, st)
			c.want("RST_STREAM 1 CANCEL")
			if got := string(st.Response().Body); got != tt.want || c.InFlight() != 0 {
				t.Errorf("%q is kept, %d in flight; want %q", got, c.InFlight(), tt.want)
			}
			s.must(s.WriteData(1, true, []byte("late"))) // it had been sent before
			c.mustFeed(s.take())
		})
	}
}

// Events cost no memory, however long they are.
func TestEventsTakeNoMemory(t *testing.T) {
	c, s := ready(t)
	_, w := c.sendStream(transport.Request{}, transport.Stream{Until: "[DONE]", Stall: time.Second})
	w.Calls = make([]int, 0, 10_000)
	s.headers(1, false, ":status", "200")
	c.mustFeed(s.take())
	s.must(s.WriteData(1, false, []byte("data: a\n\n")))
	event := s.take()
	s.must(s.WriteData(1, false, []byte("data: "+strings.Repeat("x", maxFrame-6))))
	long := s.take()
	c.mustFeed(event)
	for name, frame := range map[string][]byte{"an event": event, "a part of a long one": long} {
		if n := testing.AllocsPerRun(1000, func() { c.mustFeed(frame); c.Wrote(true) }); n != 0 {
			t.Errorf("%v allocations for %s", n, name)
		}
	}
	if len(w.Calls) < 1000 {
		t.Errorf("%d events came", len(w.Calls))
	}
}
