package groundtruth

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var ok64 = string(OK(64).Bytes)

func TestServerCounts(t *testing.T) {
	s := start(t, Config{Routes: map[string]Route{"a": {}, "b": {Reply: Status(503, 3)}}})
	one, two := dial(t, s.Address()), dial(t, s.Address())
	before := Now()
	for _, path := range []string{"/", "/a", "/a/7", "/a?b", "/ab"} {
		one.get(path)
		if got := one.receive(len(ok64)); got != ok64 {
			t.Errorf("%s is answered %q", path, got)
		}
	}
	two.get("/b/x")
	same.As(t, "/b is answered", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nxxx", two.receive(len(Status(503, 3).Bytes)))
	_ = one.Close()
	got := until(t, s, func(c Counters) bool { return c.Open == 1 && c.Answered == 6 })
	want := Counters{
		Requests: 6, Answered: 6, Connections: 2, Open: 1, PeakOpen: 2, PeakInFlight: 1,
		Routes: map[string]int64{"": 2, "a": 3, "b": 1},
	}
	same.As(t, "counters", want, got, cmpopts.IgnoreFields(Counters{}, "First", "Last"))
	if got.First < before || got.Last < got.First || got.Last > Now() {
		t.Errorf("requests came from %d to %d, the test ran from %d to %d", got.First, got.Last, before, Now())
	}
}

// clockSlack is by how much two clocks may differ that are read one after the other.
const clockSlack = int64(time.Second)

// A stamp is from when the kernel had received a request, however much later the server read it.
func TestRecordsSayWhenTheKernelHadReceivedARequest(t *testing.T) {
	for _, is := range []bool{false, true} {
		s := start(t, Config{Record: 100_000, Stamp: is})
		c := dial(t, s.Address())
		get := func() Record {
			c.get("/")
			c.receive(len(ok64))
			records := s.Records()
			return records[len(records)-1]
		}
		if is { // the kernel begins to stamp in a work queue of its own, if no other socket asked for it
			await.True(t, "a request with a stamp", func() bool { return get().Came != 0 })
		}
		for range 3 {
			before := Now()
			r := get()
			if !is {
				same.As(t, "without stamps", 0, r.Came)
				continue
			}
			if r.Came < before-clockSlack || r.Came > r.Received+clockSlack {
				t.Errorf("request %d came at %d; it was sent after %d and read at %d", r.Number, r.Came, before, r.Received)
			}
		}
	}
}

func TestRecordsLeaveOutTheRequestsBetween(t *testing.T) {
	s := start(t, Config{Record: 10, Every: 3})
	c := dial(t, s.Address())
	for n := range 8 {
		c.get(fmt.Sprintf("/%d", n))
		c.receive(len(ok64))
	}
	same.As(t, "numbers of records", []int64{0, 3, 6}, recorded(s))
	same.As(t, "requests", 8, s.Counters().Requests)
}

// A request whose path has no number may have it in a field of its head. The path goes first.
func TestNumberIsReadFromTheHead(t *testing.T) {
	s := start(t, Config{Record: 10})
	c := dial(t, s.Address())
	for _, text := range []string{
		"GET /v1/completions HTTP/1.1\r\nHost: x\r\nNumber: 7\r\n\r\n",
		"POST /v1/completions HTTP/1.1\r\nNumber: 8\r\nContent-Length: 2\r\n\r\n{}",
		"GET /3 HTTP/1.1\r\nNumber: 9\r\n\r\n",
		"GET /x HTTP/1.1\r\nNumber: many\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c.send(text)
		c.receive(len(ok64))
	}
	same.As(t, "numbers of records", []int64{7, 8, 3, -1, -1}, recorded(s))
}

// recorded are the numbers of the records.
func recorded(s *Server) (all []int64) {
	for _, r := range s.Records() {
		all = append(all, r.Number)
	}
	return all
}

func TestServerReads(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	tests := map[string]struct {
		pieces  []string
		answers int
		closed  bool
	}{
		"one at a time":            {pieces: []string{get}, answers: 1},
		"pipelined":                {pieces: []string{get + get + get}, answers: 3},
		"in parts":                 {pieces: []string{get[:9], get[9:20], get[20:] + get[:5], get[5:]}, answers: 2},
		"a body":                   {pieces: []string{"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody" + get}, answers: 2},
		"a body in parts":          {pieces: []string{"PUT / HTTP/1.1\r\ncontent-length:4\r\n\r\nbo", "dy"}, answers: 1},
		"no body":                  {pieces: []string{"DELETE / HTTP/1.1\r\n\r\n"}, answers: 1},
		"the last one":             {pieces: []string{"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"}, answers: 1, closed: true},
		"no request":               {pieces: []string{"nonsense\r\n\r\n"}, closed: true},
		"a length that is none":    {pieces: []string{"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"}, closed: true},
		"a length beyond measure":  {pieces: []string{"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"}, closed: true},
		"a head that does not end": {pieces: []string{strings.Repeat("x", maxHead+1)}, closed: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, Config{})
			c := dial(t, s.Address())
			for _, p := range tt.pieces {
				c.send(p)
			}
			if got, want := c.receive(tt.answers*len(ok64)), strings.Repeat(ok64, tt.answers); got != want {
				t.Errorf("answered %q", got)
			}
			if tt.closed {
				rest, err := c.rest()
				if rest != "" || (err != nil && !errors.Is(err, syscall.ECONNRESET)) {
					t.Errorf("then came %q, %v; want the end", rest, err)
				}
			}
			bad := int64(0)
			if tt.closed && tt.answers == 0 {
				bad = 1
			}
			until(t, s, func(c Counters) bool {
				return c.Answered == int64(tt.answers) && c.Bad == bad && (c.Open == 0) == tt.closed && c.InFlight == 0
			})
		})
	}
}

func TestReplies(t *testing.T) {
	tests := map[string]struct {
		reply Reply
		want  string
		open  bool // the connection stays so
		reset bool
	}{
		"ok":          {reply: OK(3), want: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxxx", open: true},
		"empty":       {reply: OK(0), want: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", open: true},
		"status":      {reply: Status(429, 1), want: "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 1\r\n\r\nx", open: true},
		"document":    {reply: JSON(`{"a":1}`), want: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}", open: true},
		"chunked":     {reply: Chunked(17), want: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n10\r\nxxxxxxxxxxxxxxxx\r\n1\r\nx\r\n0\r\nX-End: 1\r\n\r\n", open: true},
		"until close": {reply: UntilClose(2), want: "HTTP/1.1 200 OK\r\n\r\nxx"},
		"truncated":   {reply: Truncated(2), want: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nxx"},
		"overlong":    {reply: Overlong(1), want: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxx", open: true},
		"declared":    {reply: Declared(9, 1, Keep), want: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", open: true},
		"garbage":     {reply: Garbage(), want: "it is not HTTP what this says\r\n\r\n"},
		"early close": {reply: EarlyClose()},
		"reset":       {reply: Reset(), reset: true},
		"large":       {reply: LargeHeader(4), want: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Large: xxxx\r\n\r\n", open: true},
		"slow":        {reply: Slow(5, 2, time.Millisecond), want: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nxxxxx", open: true},
		"interim":     {reply: Interim(1), want: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", open: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, Config{Routes: map[string]Route{"": {Reply: tt.reply}}})
			c := dial(t, s.Address())
			for range 2 { // an open connection takes another request
				c.get("/")
				same.As(t, "answered", tt.want, c.receive(len(tt.want)))
				if !tt.open {
					rest, err := c.rest()
					if rest != "" || errors.Is(err, syscall.ECONNRESET) != tt.reset {
						t.Errorf("then came %q, %v", rest, err)
					}
					break
				}
			}
			until(t, s, func(c Counters) bool { return c.Answered == c.Requests && (c.Open == 1) == tt.open })
		})
	}
}

// A reply that does not fit into the sockets' buffers is written when there is
// room, and requests that came meanwhile are served after it.
func TestLargeReply(t *testing.T) {
	const size = 8 << 20
	s := start(t, Config{Routes: map[string]Route{"large": {Reply: OK(size)}}})
	c := dial(t, s.Address())
	c.send("GET /large HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
	until(t, s, func(c Counters) bool { return c.Requests == 1 && c.InFlight == 1 })
	if got, want := c.receive(len(OK(size).Bytes)), string(OK(size).Bytes); got != want {
		t.Errorf("the reply is not what was sent")
	}
	if got := c.receive(len(ok64)); got != ok64 {
		t.Errorf("then came %q", got)
	}
}

func TestServerOfSeveralLoops(t *testing.T) {
	s := start(t, Config{Loops: 4, Script: []Event{{Kind: Refuse, From: time.Hour, For: time.Hour}}})
	for range 64 {
		c := dial(t, s.Address())
		c.get("/")
		c.receive(len(ok64))
	}
	// The client hears a reply before the server has counted it.
	got := until(t, s, func(c Counters) bool { return c.Answered == 64 })
	if got.Requests != 64 || got.Connections != 64 || got.PeakOpen != 64 {
		t.Errorf("counters %+v, want 64 of each", got)
	}
}

func TestStartRefuses(t *testing.T) {
	taken := start(t, Config{}).Address()
	tests := map[string]struct {
		config Config
		want   string
	}{
		"no port":              {Config{Address: "127.0.0.1"}, "must be an IPv4 address and a port"},
		"IPv6":                 {Config{Address: "[::1]:0"}, "must be an IPv4 address and a port"},
		"a name":               {Config{Address: "localhost:0"}, "must be an IPv4 address and a port"},
		"an address elsewhere": {Config{Address: "192.0.2.1:0"}, "listen on 192.0.2.1:0"},
		"negative records":     {Config{Record: -1}, "record must not be negative"},
		"negative every":       {Config{Every: -1}, "every must not be negative"},
		"negative times":       {Config{Times: -1}, "times must not be negative"},
		"calls over HTTP/1.1":  {Config{Routes: map[string]Route{"a": {Reply: Reply{Stream: &Stream{Format: Messages}}}}}, "of the format grpc must not be set for http1"},
		"calls over TLS":       {Config{Protocol: TLS, Routes: map[string]Route{"a": {Reply: Reply{Stream: &Stream{Format: Messages}}}}}, "of the format grpc must not be set for tls"},
		"no time":              {Config{Routes: map[string]Route{"a": {Reply: Reply{Stream: &Stream{Events: Endless}}}}}, `route "a": a stream without an end must have`},
		"a frame and a break":  {Config{Protocol: H2C, Routes: map[string]Route{"a": {Reply: Reply{Frame: "hpack"}}, "b": {Reply: Reply{Stream: &Stream{Events: 1, Break: Abort}}}}}, "there must be none with another, or with a reset"},
		"several loops":        {Config{Address: "192.0.2.1:0", Loops: 3}, "listen on 192.0.2.1:0"},
		"no such protocol":     {Config{Protocol: "h3"}, "must be http1, tls, h2 or h2c"},
		"loops of none":        {Config{Protocol: TLS, Loops: 2}, "loops and stamp must not be set"},
		"stamps of none":       {Config{Protocol: H2C, Stamp: true}, "loops and stamp must not be set"},
		"no TLS":               {Config{Protocol: H2C, Certificate: &tls.Certificate{}}, "which is without TLS"},
		"GOAWAY over HTTP/1.1": {Config{Script: []Event{{Kind: GoAway}}}, "event goaway must not be set for http1"},
		"slow over HTTP/1.1":   {Config{Script: []Event{{Kind: SlowReads}}}, "event slow must not be set for http1"},
		"a frame over TLS":     {Config{Protocol: TLS, Routes: map[string]Route{"a": {Reply: Reply{Frame: "hpack"}}}}, "a frame must not be set for tls"},
		"a frame over TCP":     {Config{Routes: map[string]Route{"a": {Reply: Reply{Frame: "hpack"}}}}, "a frame must not be set for http1"},
		"two frames":           {Config{Protocol: HTTP2, Routes: map[string]Route{"a": {Reply: Reply{Frame: "hpack"}}, "b": {Reply: Reply{Frame: "hpack"}}}}, "there must be none with another"},
		"a frame and a reset":  {Config{Protocol: H2C, Routes: map[string]Route{"a": {Reply: Reply{Frame: "hpack"}}, "b": {Reply: Reset()}}}, "there must be none with another, or with a reset"},
		"no such frame":        {Config{Protocol: H2C, Routes: map[string]Route{"a": {Reply: Reply{Frame: "x"}}}}, "must be one of data-idle, "},
		"a cut response":       {Config{Protocol: TLS, Routes: map[string]Route{"a": {Reply: Truncated(2)}}}, "must be a whole response or a reset"},
		"too much":             {Config{Protocol: HTTP2, Routes: map[string]Route{"a": {Reply: Overlong(2)}}}, "must be a whole response or a reset"},
		"two responses":        {Config{Protocol: HTTP2, Routes: map[string]Route{"a": {Reply: Interim(2)}}}, "must be a whole response or a reset"},
		"the end":              {Config{Protocol: H2C, Routes: map[string]Route{"a": {Reply: UntilClose(2)}}}, "must be a whole response or a reset"},
		"a secure address":     {Config{Protocol: TLS, Address: "192.0.2.1:0"}, "listen on 192.0.2.1:0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Start(tt.config)
			wantError(t, err, tt.want)
		})
	}
	c := dial(t, taken)
	c.get("/")
	c.receive(len(ok64))
}
