package groundtruth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// streams are routes of streams, by name.
func streams(t *testing.T, byName map[string]string) map[string]Route {
	t.Helper()
	routes := map[string]Route{}
	for name, text := range byName {
		routes[name] = Route{Reply: Reply{Stream: parsed(t, text)}}
	}
	return routes
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestStreamFromALoop(t *testing.T) {
	const one, two = "f\r\ndata: {\"n\":1}\n\n\r\n", "f\r\ndata: {\"n\":2}\n\n\r\n"
	tests := map[string]struct {
		stream string
		want   string
		open   bool // the connection stays so
		reset  bool
		counts StreamCounts // of one request
	}{
		"whole":   {stream: "stream:2:1ms:1ms", want: one + two + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n", open: true, counts: StreamCounts{Begun: 1, Ended: 1, Events: 2}},
		"at once": {stream: "stream:1:0s:0s:stall=1,1ms", want: one + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n", open: true, counts: StreamCounts{Begun: 1, Ended: 1, Events: 1, Stalled: 1}},
		"unended": {stream: "stream:1:1ms:1ms:unended", want: one + "0\r\n\r\n", open: true, counts: StreamCounts{Begun: 1, Broken: 1, Events: 1}},
		"closed":  {stream: "stream:9:1ms:1ms:close=2", want: one + two, counts: StreamCounts{Begun: 1, Broken: 1, Events: 2}},
		"reset":   {stream: "stream:9:1ms:1ms:reset=1", want: one, reset: true, counts: StreamCounts{Begun: 1, Broken: 1, Events: 1}},
		"in pieces": {
			stream: "stream:1:0s:0s:format=chunks:pieces=1us:unended", open: true, counts: StreamCounts{Begun: 1, Broken: 1, Events: 1},
			want: "1\r\n{\r\n1\r\n\"\r\n1\r\nn\r\n1\r\n\"\r\n1\r\n:\r\n1\r\n1\r\n1\r\n}\r\n0\r\n\r\n",
		},
		"large": {
			stream: "stream:1:0s:0s:large=1,8388608", open: true, counts: StreamCounts{Begun: 1, Ended: 1, Events: 1},
			want: "800016\r\ndata: {\"n\":1,\"x\":\"" + strings.Repeat("x", 8<<20) + "\"}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, Config{Record: 9, Routes: streams(t, map[string]string{"s": tt.stream})})
			c := dial(t, s.Address())
			want := strings.Replace(streamHead, "text/event-stream", parsed(t, tt.stream).contentType(), 1) + tt.want
			c.get("/s/1")
			if got := c.receive(len(want)); got != want {
				t.Errorf("answered %.300q, want %.300q", got, want)
			}
			if !tt.open {
				rest, err := c.rest()
				if rest != "" || errors.Is(err, syscall.ECONNRESET) != tt.reset {
					t.Errorf("then came %q, %v", rest, err)
				}
			}
			got := until(t, s, func(c Counters) bool { return c.Answered == 1 && c.InFlight == 0 && (c.Open == 1) == tt.open })
			same.As(t, "counts", map[string]StreamCounts{"s": tt.counts}, got.Streams)
			if tt.open { // for another request
				c.get("/")
				c.receive(len(ok64))
			}
		})
	}
}

// No event is written before it is due, and what is written is in the records.
func TestStreamKeepsItsSchedule(t *testing.T) {
	const text = "stream:20:5ms:1ms:2ms:stall=10,5ms"
	check := func(t *testing.T, s *Server, client *http.Client) {
		get := func(path string) {
			if code, text := fetchFrom(client, s.URL()+path); code != http.StatusOK || !strings.HasSuffix(text, "data: [DONE]\n\n") {
				t.Errorf("%s is answered %d %q", path, code, text)
			}
		}
		for number := range int64(3) {
			get(fmt.Sprintf("/s/%d", number))
		}
		get("/late/3")
		counters := until(t, s, func(c Counters) bool { return c.Answered == 4 })
		each := StreamCounts{Begun: 3, Ended: 3, Stalled: 3, Events: 60}
		same.As(t, "counts", map[string]StreamCounts{"s": each, "late": {Begun: 1, Ended: 1, Events: 1}}, counters.Streams)
		for number, r := range s.Records() {
			if r.Number != int64(number) {
				t.Fatalf("record %d is of request %d", number, r.Number)
			}
			due := slices.Collect(parsed(t, text).Due(9, r.Number))
			if number == 3 {
				due = []time.Duration{3 * time.Millisecond}
			}
			if r.Events != int64(len(due)) || len(r.Times) != min(len(due), 15) || r.First != r.Times[0] || r.Answered < r.Last {
				t.Fatalf("record %+v of %d events", r, len(due))
			}
			var gap int64 // of the events whose times are kept, that of the stall among them
			for i, at := range r.Times {
				if i > 0 {
					gap = max(gap, at-r.Times[i-1])
				}
				if early := r.Received + int64(due[i]) - at; early > 0 {
					t.Errorf("event %d of request %d was written %v before it was due", i+1, number, time.Duration(early))
				}
			}
			if r.Last < r.Received+int64(due[len(due)-1]) || r.Gap < gap {
				t.Errorf("record %+v, of events that were due after %v", r, due)
			}
		}
	}
	routes := streams(t, map[string]string{"s": text, "late": "stream:1:1ms:0s"})
	late := routes["late"]
	late.Latency = Fixed(2 * time.Millisecond)
	routes["late"] = late
	config := Config{Seed: 9, Record: 9, Times: 15, Routes: routes}
	t.Run("loop", func(t *testing.T) { check(t, start(t, config), http.DefaultClient) })
	over(t, config, check)
}

// A loop compresses as net/http does.
func TestACompressedStreamFromALoop(t *testing.T) {
	s := start(t, Config{Routes: streams(t, map[string]string{"s": "stream:2:0s:1ms:gzip"})})
	response, err := http.Get(s.URL() + "/s/1")
	must.Succeed(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if want := "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n"; err != nil || string(text) != want || !response.Uncompressed {
		t.Errorf("read %q, %v, compressed %t; want %q, compressed", text, err, response.Uncompressed, want)
	}
}

func TestStreamsOverEachProtocol(t *testing.T) {
	routes := streams(t, map[string]string{
		"whole": "stream:2:0s:1ms:comments:bom:invalid=2", "lines": "stream:1:0s:0s:format=lines", "unended": "stream:1:0s:0s:unended",
		"reset": "stream:9:1ms:1ms:reset=1", "close": "stream:9:1ms:1ms:close=1", "large": "stream:1:0s:0s:large=1,4000000:unended",
		"packed": "stream:2:0s:1ms:gzip:comments", "packed-unended": "stream:1:0s:0s:gzip:pieces=1us:unended",
	})
	over(t, Config{Routes: routes}, func(t *testing.T, s *Server, client *http.Client) {
		for path, want := range map[string]string{
			"/packed/1":         "data: {\"n\":1}\n\n: ping\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n", // net/http has decompressed it
			"/packed-unended/1": "data: {\"n\":1}\n\n",
			"/whole":            "\ufeffdata: {\"n\":1}\n\n: ping\n\ndata: {\"n\":2,\"x\":\"\xff\xc0\x80\"}\n\ndata: [DONE]\n\n",
			"/lines":            "{\"n\":1}\n{\"done\":true}\n",
			"/unended":          "data: {\"n\":1}\n\n",
			"/large":            "data: {\"n\":1,\"x\":\"" + strings.Repeat("x", 4_000_000) + "\"}\n\n",
		} {
			if code, got := fetchFrom(client, s.URL()+path); code != http.StatusOK || got != want {
				t.Errorf("%s is answered %d %.300q, want %.300q", path, code, got, want)
			}
		}
		for _, path := range []string{"/reset", "/close"} {
			resp, err := client.Get(s.URL() + path)
			must.Succeed(t, err)
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			// Over HTTP/1.1 and TLS, a reset may overtake what was written.
			if want := "data: {\"n\":1}\n\n"; err == nil || !strings.HasPrefix(want, string(got)) {
				t.Errorf("%s is answered %q, %v; want %q and an error", path, got, err, want)
			}
		}
		got := until(t, s, func(c Counters) bool { return c.Answered == 8 && c.InFlight == 0 })
		want := map[string]StreamCounts{
			"packed": {Begun: 1, Ended: 1, Events: 2}, "packed-unended": {Begun: 1, Broken: 1, Events: 1},
			"whole": {Begun: 1, Ended: 1, Events: 2}, "lines": {Begun: 1, Ended: 1, Events: 1}, "unended": {Begun: 1, Broken: 1, Events: 1},
			"reset": {Begun: 1, Broken: 1, Events: 1}, "close": {Begun: 1, Broken: 1, Events: 1}, "large": {Begun: 1, Broken: 1, Events: 1},
		}
		same.As(t, "counts", want, got.Streams)
	})
}

// A client that goes away ends its stream, also one without an end, or one that is blocked
// because it is not read.
func TestStreamWithoutAClient(t *testing.T) {
	routes := streams(t, map[string]string{"s": "stream:endless:0s:1ms", "idle": "stream:1:1h:0s", "large": "stream:2:0s:1h:large=1,16000000"})
	gone := func(t *testing.T, s *Server, get func(ctx context.Context, path string)) {
		ctx, leave := context.WithCancel(t.Context())
		for _, path := range []string{"/s", "/idle", "/large"} {
			get(ctx, path)
		}
		until(t, s, func(c Counters) bool {
			return c.Streams["s"].Events > 5 && c.Streams["idle"].Begun == 1 && c.Streams["large"].Begun == 1
		})
		leave()
		got := until(t, s, func(c Counters) bool { return c.InFlight == 0 }).Streams
		for name, c := range got {
			if c.Begun != 1 || c.Unfinished != 1 || c.Ended+c.Broken+c.Stalled != 0 {
				t.Errorf("the counts of %s are %+v", name, c)
			}
		}
		if got["idle"].Events+got["large"].Events != 0 {
			t.Errorf("counts %+v, want no event of idle, nor of large, which was not read", got)
		}
	}
	t.Run("loop", func(t *testing.T) {
		s := start(t, Config{Routes: routes})
		gone(t, s, func(ctx context.Context, path string) {
			c := dial(t, s.Address())
			c.get(path)
			context.AfterFunc(ctx, func() { _ = c.Close() })
		})
	})
	over(t, Config{Routes: routes}, func(t *testing.T, s *Server, client *http.Client) {
		gone(t, s, func(ctx context.Context, path string) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
			must.Succeed(t, err)
			resp, err := client.Do(r)
			must.Succeed(t, err)
			context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
		})
	})
}

// A stall of the whole server holds back events that fall due meanwhile, and a refusal ends
// streams.
func TestStreamDuringAnEvent(t *testing.T) {
	const from, length = 20 * time.Millisecond, 50 * time.Millisecond
	routes := streams(t, map[string]string{"s": "stream:50:0s:2ms", "endless": "stream:endless:0s:1ms"})
	s := start(t, Config{Record: 1, Times: 50, Routes: routes, Script: []Event{{Kind: Stall, From: from, For: length}, {Kind: Refuse, From: time.Second, For: time.Hour}}})
	if code, text := fetchFrom(http.DefaultClient, s.URL()+"/s/1"); code != http.StatusOK {
		t.Fatalf("answered %d, %s", code, text)
	}
	got := until(t, s, func(c Counters) bool { return c.InFlight == 0 && len(c.Stalls) == 1 })
	for i, at := range s.Records()[0].Times {
		if stall := got.Stalls[0]; stall.From < at && at < stall.To {
			t.Errorf("event %d was written while the server stood still", i+1)
		}
	}
	c := dial(t, s.Address())
	c.get("/endless")
	if _, err := c.rest(); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if got := until(t, s, func(c Counters) bool { return c.InFlight == 0 }).Streams["endless"]; got.Unfinished != 1 || got.Ended != 0 {
		t.Errorf("counts %+v, want one that is unfinished", got)
	}
}

// A stream that can never keep its schedule keeps no other request from its answer, and the
// server from its end.
func TestStreamThatIsAlwaysBehind(t *testing.T) {
	s := start(t, Config{Routes: streams(t, map[string]string{"s": "stream:endless:0s:1ns"})})
	greedy, other := dial(t, s.Address()), dial(t, s.Address())
	greedy.get("/s")
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, greedy.r)
	}()
	until(t, s, func(c Counters) bool { return c.Streams["s"].Events > 10_000 })
	other.get("/")
	other.receive(len(ok64))
	s.Close()
	<-read
}

// What grpc-go makes of a stream of messages: their numbers, and the status.
func TestStreamOfMessages(t *testing.T) {
	for text, want := range map[string]struct {
		messages int
		code     codes.Code
	}{
		"stream:5:1ms:1ms:format=grpc":                {5, codes.OK},
		"stream:2:0s:0s:format=grpc:large=2,1000":     {2, codes.OK},
		"stream:0:0s:0s:format=grpc":                  {0, codes.OK},
		"stream:2:0s:1ms:format=grpc:pieces=1us":      {2, codes.OK},
		"stream:2:0s:0s:format=grpc:unended":          {2, codes.Internal},
		"stream:endless:0s:1ms:format=grpc:reset=3":   {3, codes.Internal},
		"stream:9:0s:1ms:format=grpc:close=3":         {3, codes.Unavailable},
		"stream:9:0s:1ms:format=grpc:stall=2,1ms":     {9, codes.OK},
		"stream:300:0s:0s:format=grpc:large=300,8000": {300, codes.OK},
	} {
		t.Run(text, func(t *testing.T) {
			s := start(t, Config{Protocol: H2C, Record: 1, Routes: streams(t, map[string]string{healthpb.Health_ServiceDesc.ServiceName: text})})
			conn, err := grpc.NewClient(s.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
			must.Succeed(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			t.Cleanup(cancel)
			stream, err := healthpb.NewHealthClient(conn).Watch(metadata.AppendToOutgoingContext(ctx, NumberHeader, "7"), &healthpb.HealthCheckRequest{})
			must.Succeed(t, err)
			n := 0
			for {
				m, err := stream.Recv()
				if err != nil {
					if errors.Is(err, io.EOF) {
						err = nil
					}
					if status.Code(err) != want.code {
						t.Errorf("the call ends with %v, want %v", err, want.code)
					}
					break
				}
				if n++; int(m.GetStatus()) != n {
					t.Errorf("message %d has the number %d", n, m.GetStatus())
				}
			}
			until(t, s, func(c Counters) bool { return c.Answered == 1 })
			closed := want.code == codes.Unavailable // what had come and was not read is lost with the connection
			if r := s.Records()[0]; r.Events != int64(want.messages) || n > want.messages || n < want.messages && !closed || r.Number != 7 {
				t.Errorf("%d messages came, %d were written for request %d; want %d", n, r.Events, r.Number, want.messages)
			}
		})
	}
}
