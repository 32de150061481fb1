package websocket

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
)

// What a server of a test does beside writing a text and waiting for a time.
type does int

const (
	upgrades does = iota // reads a request, and answers as a server of WebSocket
	asked                // reads a request
	reads                // reads a frame
	echoes               // reads a frame, and answers with its payload
	floods               // writes empty fragments until it cannot
	pings                // writes pings until it cannot
)

// server is the other side of one connection. It says what it got, and when.
type server struct {
	conn  net.Conn
	in    *bufio.Reader
	began time.Time
	got   []string
}

func (s *server) say(format string, args ...any) {
	s.got = append(s.got, fmt.Sprintf(format, args...)+" "+time.Since(s.began).String())
}

func (s *server) run(script []any) {
	defer func() { _ = s.conn.Close() }()
	for _, step := range script {
		switch step := step.(type) {
		case time.Duration:
			<-time.After(step)
		case string:
			_, _ = io.WriteString(s.conn, step)
		case does:
			if !s.do(step) {
				return
			}
		}
	}
}

func (s *server) do(what does) bool {
	switch what {
	case upgrades, asked:
		r, err := http.ReadRequest(s.in)
		if err != nil {
			s.say("no request")
			return false
		}
		if what == upgrades {
			_, _ = io.WriteString(s.conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\nSec-WebSocket-Accept: "+
				acceptOf(r.Header.Get("Sec-WebSocket-Key"))+"\r\n\r\n")
		}
	case floods, pings:
		with := frame(goesOn, "")
		if what == pings {
			with = frame(aPing, "")
		}
		for {
			if _, err := io.WriteString(s.conn, with); err != nil {
				return false
			}
			<-time.After(time.Millisecond)
		}
	default:
		op, payload, err := s.read()
		if err != nil {
			s.say("end")
			return false
		}
		if op == closing && len(payload) >= 2 {
			payload = fmt.Sprint(binary.BigEndian.Uint16([]byte(payload))) + payload[2:]
		}
		s.say("%s:%s", map[opcode]string{text: "text", pong: "pong", closing: "close"}[op], shorter(payload))
		if what == echoes {
			_, _ = io.WriteString(s.conn, frame(wholeText, payload))
		}
	}
	return true
}

// read reads a frame of the client, which must be masked.
func (s *server) read() (opcode, string, error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, "", err
	}
	n := int(head[1] & lengthBits)
	switch n {
	case length16:
		var b [2]byte
		_, _ = io.ReadFull(s.in, b[:])
		n = int(binary.BigEndian.Uint16(b[:]))
	case length64:
		var b [8]byte
		_, _ = io.ReadFull(s.in, b[:])
		n = int(binary.BigEndian.Uint64(b[:]))
	}
	var key [keySize]byte
	_, _ = io.ReadFull(s.in, key[:])
	b := make([]byte, n)
	_, err := io.ReadFull(s.in, b)
	mask(b, binary.LittleEndian.Uint32(key[:]))
	if head[1]&masked == 0 || head[0]&final == 0 {
		err = errors.New("the frame is not masked, or not whole")
	}
	return opcode(head[0] & opcodeBits), string(b), err
}

// watcher notes when messages came.
type watcher struct {
	began time.Time
	came  []string
}

func (w *watcher) Came(n int, _ time.Duration) {
	w.came = append(w.came, fmt.Sprintf("%d:%v", n, time.Since(w.began)))
}

// exchanged is what became of a request.
type exchanged struct {
	response transport.Response
	err      error
	took     time.Duration
	came     []string // messages, with the times
	server   []string
}

// says is the outcome in words.
func (e exchanged) says() string {
	if e.err != nil {
		return fmt.Sprintf("%v %d %v", failure.Classify(e.err), e.response.Streamed.Events, e.took)
	}
	said := fmt.Sprintf("%d %d %v", e.response.Status, e.response.Streamed.Events, e.took)
	if e.response.Streamed.Ended {
		said += " ended"
	}
	if e.response.Streamed.Left {
		said += " left"
	}
	if c := e.response.Streamed.Code; c != 0 {
		said += fmt.Sprintf(" %d%s", c, e.response.Message)
	}
	return said
}

// timeout is that of the requests of the tests.
const timeout = 10 * time.Second

// exchangeWith sends a request to a server, in virtual time.
func exchangeWith(t *testing.T, r transport.Request, script ...any) (out exchanged) {
	t.Helper()
	network := virtual.NewNetwork(t)
	synctest.Test(t, func(t *testing.T) {
		listener, s := network.Listen(), &server{began: time.Now()}
		over := make(chan struct{})
		go func() {
			defer close(over)
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.conn, s.in = conn, bufio.NewReader(conn)
			s.run(script)
		}()
		client := NewClient(scripted.NewDialer(t, dial.Config{URL: "http://" + listener.Addr().String(), Dial: network.Dial}), "test")
		w := &watcher{began: time.Now()}
		r.Watcher = w
		r.Path = []byte("/path")
		if r.WebSocket == nil {
			r.WebSocket = &transport.WebSocket{}
		}
		if r.Stream == nil {
			r.Stream = &transport.Stream{Count: 1}
		}
		r.Stream.Events = transport.WebSocketMessages
		out.response, out.err = client.NewConn().Do(t.Context(), &r, time.Now().Add(timeout))
		out.took = time.Since(w.began)
		_ = listener.Close()
		<-over
		out.came, out.server = w.came, s.got
	})
	return out
}

func sends(messages ...string) *transport.WebSocket {
	w := &transport.WebSocket{}
	for _, m := range messages {
		w.Send = append(w.Send, []byte(m))
	}
	return w
}

func every(d time.Duration, messages ...string) *transport.WebSocket {
	w := sends(messages...)
	w.Every = d
	return w
}

const (
	ms    = time.Millisecond
	bye   = "\x88\x02\x03\xe8" // a close with 1000
	ping1 = "\x89\x01p"
)

func TestMessagesAreSentAndRead(t *testing.T) {
	count := func(n int64) *transport.Stream { return &transport.Stream{Count: n} }
	until := func(data string) *transport.Stream { return &transport.Stream{Until: data} }
	stalls := func(d time.Duration) *transport.Stream { return &transport.Stream{Count: 2, Stall: d} }
	hello := frame(wholeText, "hello")
	tests := map[string]struct {
		request transport.Request
		script  []any
		want    string
		came    string // by the watcher
		server  string
	}{
		"one message":                                  {transport.Request{WebSocket: sends("hi")}, []any{upgrades, 10 * ms, echoes, reads, 5 * ms, bye}, "101 1 15ms ended", "1:10ms", `text:"hi" 10ms, close:"1000" 10ms`},
		"each after a reply":                           {transport.Request{WebSocket: sends("a", "b", "c"), Stream: count(3)}, []any{upgrades, reads, 10 * ms, hello, reads, 20 * ms, hello, reads, 30 * ms, hello, reads, bye}, "101 3 60ms ended", "1:10ms 1:30ms 1:60ms", `text:"a" 0s, text:"b" 10ms, text:"c" 30ms, close:"1000" 60ms`},
		"replies come together":                        {transport.Request{WebSocket: sends("a", "b"), Stream: count(3)}, []any{upgrades, reads, hello + hello, reads, hello, reads, bye}, "101 3 0s ended", "2:0s 1:0s", `text:"a" 0s, text:"b" 0s, close:"1000" 0s`},
		"by the clock":                                 {transport.Request{WebSocket: every(100*ms, "a", "b", "c"), Stream: until("end")}, []any{upgrades, reads, reads, reads, hello, 50 * ms, frame(wholeText, "end"), reads, bye}, "101 2 250ms ended", "1:200ms 1:250ms", `text:"a" 0s, text:"b" 100ms, text:"c" 200ms, close:"1000" 250ms`},
		"the end comes before all are sent":            {transport.Request{WebSocket: every(100*ms, "a", "b", "c"), Stream: until("end")}, []any{upgrades, reads, 30 * ms, frame(wholeText, "end"), reads, bye, 500 * ms}, "101 1 530ms ended", "1:30ms", `text:"a" 0s, close:"1000" 30ms`},
		"until a message in pieces":                    {transport.Request{Stream: until("the end")}, []any{upgrades, frame(beginText, "the "), 10 * ms, ping1, frame(lastOne, "end"), reads, reads, bye}, "101 1 10ms ended", "1:10ms", `pong:"p" 10ms, close:"1000" 10ms`},
		"an empty message counts":                      {transport.Request{Stream: count(2)}, []any{upgrades, frame(wholeText, "") + frame(wholeBinary, ""), reads, bye}, "101 2 0s ended", "2:0s", `close:"1000" 0s`},
		"a message with the last bytes of the upgrade": {transport.Request{}, []any{upgrades, hello, bye, reads}, "101 1 0s ended", "1:0s", `close:"1000" 0s`},
		"64 KB each way":                               {transport.Request{WebSocket: sends(strings.Repeat("x", 64<<10))}, []any{upgrades, echoes, reads, bye}, "101 1 0s ended", "1:0s", `text:"x"*65536 0s, close:"1000" 0s`},
		"the server answers no close":                  {transport.Request{}, []any{upgrades, hello, reads, time.Minute}, "101 1 1s ended left", "1:0s", `close:"1000" 0s`},
		"the server closes the connection only":        {transport.Request{}, []any{upgrades, hello, reads}, "101 1 0s ended left", "1:0s", `close:"1000" 0s`},
		"the server leaves the connection open":        {transport.Request{}, []any{upgrades, hello, reads, bye, time.Minute}, "101 1 1s ended left", "1:0s", `close:"1000" 0s`},
		"messages go on after the last one":            {transport.Request{}, []any{upgrades, hello + hello + hello, reads, hello, bye}, "101 1 0s ended", "1:0s", `close:"1000" 0s`},

		"a close before the end":         {transport.Request{Stream: count(2)}, []any{upgrades, hello, closeWith(1011, "overloaded"), reads}, "101 1 0s 1011overloaded", "1:0s", `close:"1011" 0s`},
		"a normal close before the end":  {transport.Request{Stream: count(2)}, []any{upgrades, hello, 10 * ms, bye, reads}, "101 1 10ms 1000", "1:0s", `close:"1000" 10ms`},
		"a close without a code":         {transport.Request{}, []any{upgrades, frame(aClose, ""), reads}, "101 0 0s 1005", "", `close:"" 0s`},
		"the connection breaks off":      {transport.Request{Stream: count(2)}, []any{upgrades, hello, 10 * ms}, "reset 1 10ms", "1:0s", ""},
		"it breaks off within a message": {transport.Request{}, []any{upgrades, hello[:4]}, "reset 0 0s", "", ""},
		"no message for too long":        {transport.Request{Stream: stalls(50 * ms)}, []any{upgrades, 20 * ms, hello, time.Minute}, "stalled 1 70ms", "1:20ms", ""},
		"fragments are no message":       {transport.Request{Stream: stalls(50 * ms)}, []any{upgrades, hello, frame(beginText, ""), floods}, "stalled 1 50ms", "1:0s", ""},
		"fragments without an end":       {transport.Request{}, []any{upgrades, frame(beginText, ""), floods}, "timeout 0 10s", "", ""},
		"pings without an end":           {transport.Request{}, []any{upgrades, pings}, "timeout 0 10s", "", ""},
		"silence":                        {transport.Request{}, []any{upgrades, time.Minute}, "timeout 0 10s", "", ""},
		"no answer to the upgrade":       {transport.Request{}, []any{asked, time.Minute}, "timeout 0 10s", "", ""},
		"it hangs up on the upgrade":     {transport.Request{}, []any{asked}, "reset 0 0s", "", ""},

		"a masked frame":                       {transport.Request{}, []any{upgrades, "\x81\x81abcde", reads}, "badResponse 0 0s", "", `close:"1002" 0s`},
		"a reserved bit":                       {transport.Request{}, []any{upgrades, frame(wholeText|0x40, "a"), reads}, "badResponse 0 0s", "", `close:"1002" 0s`},
		"no UTF-8":                             {transport.Request{}, []any{upgrades, frame(wholeText, "\xff"), reads}, "badResponse 0 0s", "", `close:"1007" 0s`},
		"a huge length":                        {transport.Request{}, []any{upgrades, "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", reads}, "badResponse 0 0s", "", `close:"1009" 0s`},
		"a message, and then a rule is broken": {transport.Request{Stream: count(2)}, []any{upgrades, hello + frame(final|7, ""), reads}, "badResponse 1 0s", "1:0s", `close:"1002" 0s`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := exchangeWith(t, tt.request, tt.script...)
			same.As(t, "outcome", tt.want, got.says())
			same.As(t, "messages", tt.came, strings.Join(got.came, " "))
			same.As(t, "the server got", tt.server, strings.Join(got.server, ", "))
		})
	}
}

func TestUpgradesThatAreNone(t *testing.T) {
	const accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
	const switching = "HTTP/1.1 101 Switching Protocols\r\n"
	tests := map[string]struct {
		subprotocol, answer, want string
	}{
		"200 with a body":           {"", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 0 0s"},
		"429":                       {"", "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", "429 0 0s"},
		"403 until it closes":       {"", "HTTP/1.0 403 Forbidden\r\n\r\nno", "403 0 0s"},
		"a body that breaks off":    {"", "HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nhe", "read: unexpected EOF"},
		"103 and then 401":          {"", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "401 0 0s"},
		"interim ones without end":  {"", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000), "read: too many interim responses"},
		"no HTTP":                   {"", "secret\r\n\r\n", "read: malformed HTTP response"},
		"a header without end":      {"", switching + strings.Repeat("A: secret\r\n", 100_000), "read: response header is larger than 64 KiB"},
		"no Upgrade":                {"", switching + "Connection: Upgrade\r\n\r\n", "read: the upgrade was answered without the header Upgrade: websocket"},
		"another Upgrade":           {"", switching + "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "read: the upgrade was answered without the header Upgrade: websocket"},
		"no Connection":             {"", switching + "Upgrade: websocket\r\n\r\n", "read: the upgrade was answered without the header Connection: Upgrade"},
		"no key":                    {"", switching + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "read: the upgrade was answered with a wrong Sec-WebSocket-Accept"},
		"the answer to another key": {"", switching + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + "\r\n\r\n", "read: the upgrade was answered with a wrong Sec-WebSocket-Accept"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := exchangeWith(t, transport.Request{WebSocket: &transport.WebSocket{Subprotocol: tt.subprotocol}}, asked, tt.answer)
			said := got.says()
			if got.err != nil {
				said = got.err.Error()
			}
			same.As(t, "outcome", tt.want, said)
		})
	}
}

// The example of the RFC (1.3), and what a server may answer besides.
func TestUpgradesAreChecked(t *testing.T) {
	const key, accept = "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
	for name, tt := range map[string]struct{ subprotocol, add, value, want string }{
		"as it should be":            {"", "", "", ""},
		"the subprotocol":            {"chat", "Sec-Websocket-Protocol", "chat", ""},
		"no subprotocol":             {"chat", "", "", "the server chose no subprotocol, and webSocket.subprotocol asks for one"},
		"another subprotocol":        {"chat", "Sec-Websocket-Protocol", "secret", "the server chose another subprotocol than webSocket.subprotocol"},
		"a subprotocol all the same": {"", "Sec-Websocket-Protocol", "secret", "the server chose another subprotocol than webSocket.subprotocol"},
		"an extension":               {"", "Sec-Websocket-Extensions", "permessage-deflate", "the server uses an extension, and none was offered"},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Accept": {accept}}
			if tt.add != "" {
				h.Set(tt.add, tt.value)
			}
			got := ""
			if err := checkUpgrade(h, key, tt.subprotocol); err != nil {
				got = err.Error()
			}
			same.As(t, "error", tt.want, got)
		})
	}
}

func TestTheUpgradeIsARequestOfHTTP(t *testing.T) {
	r := &transport.Request{
		Method: "GET", Path: []byte("/chat?a=b"), WebSocket: &transport.WebSocket{Subprotocol: "chat"}, Body: []byte("no"),
		Headers: []transport.Header{{Name: "Authorization", Value: []byte("Bearer x")}, {Name: "traceparent", Value: []byte("00")}},
	}
	want := "GET /chat?a=b HTTP/1.1\r\nHost: a.test\r\nUser-Agent: test\r\nAuthorization: Bearer x\r\ntraceparent: 00\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: key\r\nSec-WebSocket-Protocol: chat\r\n\r\n"
	same.As(t, "request", want, string(appendUpgrade(nil, r, "a.test", "test", "key")))
	if a, b := newKey(), newKey(); a == b || len(a) != 24 {
		t.Errorf("keys %s and %s", a, b)
	}
}

// A request that is interrupted ends at once, whatever its connection waits for, and later ones are not sent.
func TestInterruptEndsARequest(t *testing.T) {
	network := virtual.NewNetwork(t)
	synctest.Test(t, func(t *testing.T) {
		listener := network.Listen()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				s := &server{conn: conn, in: bufio.NewReader(conn)}
				go s.run([]any{upgrades, time.Minute})
			}
		}()
		conn := NewClient(scripted.NewDialer(t, dial.Config{URL: "http://" + listener.Addr().String(), Dial: network.Dial}), "").NewConn()
		began := time.Now()
		time.AfterFunc(time.Second, conn.Interrupt)
		r := &transport.Request{Path: []byte("/"), WebSocket: every(time.Hour, "a", "b"), Stream: &transport.Stream{Events: transport.WebSocketMessages, Count: 1}}
		for range 2 {
			if _, err := conn.Do(t.Context(), r, began.Add(timeout)); !errors.Is(err, failure.ErrInterrupted) || time.Since(began) != time.Second {
				t.Errorf("%v after %v, want that it is interrupted after 1s", err, time.Since(began))
			}
		}
		must.Succeed(t, listener.Close())
		<-time.After(2 * time.Minute)
	})
}

// A server that sends faster than it is read keeps no request beyond its timeout.
func TestTimeoutsHoldWhateverComes(t *testing.T) {
	for name, with := range map[string]string{"fragments": frame(goesOn, ""), "messages": frame(wholeText, "a"), "pings": frame(aPing, "")} {
		t.Run(name, func(t *testing.T) {
			flood := []byte(frame(wholeText, "a") + frame(beginText, "") + strings.Repeat(frame(goesOn, ""), 1000))
			if name != "fragments" {
				flood = []byte(strings.Repeat(with, 1000))
			}
			url := scripted.Serve(t, func(conn *net.TCPConn, in *bufio.Reader) {
				s := &server{conn: conn, in: in}
				s.do(upgrades)
				for {
					if _, err := conn.Write(flood); err != nil {
						return
					}
					if name == "fragments" {
						flood = []byte(strings.Repeat(with, 1000))
					}
				}
			})
			r := &transport.Request{Path: []byte("/"), WebSocket: sends("a"), Stream: &transport.Stream{Events: transport.WebSocketMessages, Until: "b"}}
			_, err := NewClient(scripted.NewDialer(t, dial.Config{URL: url}), "").NewConn().Do(t.Context(), r, time.Now().Add(300*ms))
			if got := failure.Classify(err); got != measure.Timeout {
				t.Errorf("%v, of class %v, want a timeout", err, got)
			}
		})
	}
}

// A request that cannot be sent is not, and what it says is the outcome.
func TestRequestsThatCannotBeSent(t *testing.T) {
	conn := NewClient(scripted.NewDialer(t, dial.Config{URL: "http://192.0.2.1"}), "").NewConn()
	want := errors.New("no UTF-8")
	if _, err := conn.Do(context.Background(), &transport.Request{Err: want}, time.Now()); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestHeadersOfTheUpgradeAreReserved(t *testing.T) {
	var got []string
	for _, name := range []string{"Upgrade", "connection", "SEC-WEBSOCKET-KEY", "Sec-WebSocket-Extensions", "Content-Length", "Origin", "Cookie", "Sec-Fetch-Mode"} {
		if IsReserved(name) {
			got = append(got, name)
		}
	}
	if want := []string{"Upgrade", "connection", "SEC-WEBSOCKET-KEY", "Sec-WebSocket-Extensions", "Content-Length"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
