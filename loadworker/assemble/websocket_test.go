package assemble

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/websocket"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// echo is a server of WebSocket, of another implementation, that sends each message back and counts them.
func echo(messages *atomic.Int64) http.HandlerFunc {
	server := websocket.Server{Handler: func(conn *websocket.Conn) {
		for {
			var message string
			if websocket.Message.Receive(conn, &message) != nil {
				return
			}
			messages.Add(1)
			_ = websocket.Message.Send(conn, message)
		}
	}}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/echo" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		server.ServeHTTP(w, r)
	}
}

// talk is a request of WebSocket.
func talk(send ...string) *workerv1.Request {
	return &workerv1.Request{
		Name: "talk", Type: "WebSocket", Weight: 1, Method: "GET", Path: "/echo",
		WebSocket: &workerv1.WebSocket{Send: send},
		Stream:    &workerv1.Stream{Events: workerv1.StreamEvents_STREAM_EVENTS_WEB_SOCKET, Count: int64(len(send))},
	}
}

// Requests of WebSocket go to a server of another implementation, alone and mixed with others; what is counted of
// them is what the server counts.
func TestRequestsOfWebSocketAreSent(t *testing.T) {
	for name, step := range map[string]*workerv1.Step{"users": workertest.Burst(0, 3, 8), "arrivals": arrivals()} {
		for over, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS} {
			for _, mixed := range []bool{false, true} {
				t.Run(name+" over "+over, func(t *testing.T) {
					var messages atomic.Int64
					target := workertest.Serve(t, echo(&messages), start)
					a := workertest.Assignment(target.URL, step)
					if over == "TLS" {
						a.Target.Tls = &workerv1.TLS{InsecureSkipVerify: true}
					}
					home := a.Requests[0]
					a.Requests = []*workerv1.Request{talk("hello ${user}", strings.Repeat("x", 64<<10), "${uuid}")}
					if mixed {
						a.Requests = append(a.Requests, home)
					}
					m := run(t, prepared(t, a, testConfig(), ignore))
					total, err := m.Total()
					must.Succeed(t, err)
					q := &m.Requests[0]
					same.As(t, "errors", map[measure.Outcome]string{}, errorsOf(m))
					if q.Sent == 0 || q.Expected != q.Sent || q.StatusCodes[http.StatusSwitchingProtocols] != q.Sent || q.Streams == nil {
						t.Fatalf("%d were sent, %d were expected, with the statuses %v", q.Sent, q.Expected, q.StatusCodes)
					}
					if n := messages.Load(); q.Streams.Events != n || n != 3*q.Sent {
						t.Errorf("%d messages were counted of %d connections, and %d by the server", q.Streams.Events, q.Sent, n)
					}
					if n := q.Streams.Times[measure.BetweenEvents].Count(); n != 2*q.Sent {
						t.Errorf("%d times between messages of %d connections", n, q.Sent)
					}
					if n := target.Served(); n != total.Sent {
						t.Errorf("%d requests came, %d were sent", n, total.Sent)
					}
				})
			}
		}
	}
}

// What a server answers instead, and how it ends a connection, is an outcome; a reason, which may be secret, is
// not shown.
func TestOutcomesOfWebSocket(t *testing.T) {
	closes := func(code byte, reason string) http.HandlerFunc {
		return websocket.Server{Handler: func(conn *websocket.Conn) {
			w, err := conn.NewFrameWriter(websocket.CloseFrame)
			if err == nil {
				_, _ = w.Write(append([]byte{3, code}, reason...))
			}
		}}.ServeHTTP
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, tt := range map[string]struct {
		serve   http.HandlerFunc
		outcome measure.Outcome
		text    string
	}{
		"403":          {status(403), measure.ClientError, `request "talk": status 403 Forbidden`},
		"503":          {status(503), measure.ServerError, `request "talk": status 503 Service Unavailable`},
		"200":          {status(200), measure.UnexpectedStatus, `request "talk": status 200 OK`},
		"429":          {status(429), measure.RateLimited, `request "talk": status 429 Too Many Requests`},
		"a close":      {closes(0xf3, "secret"), measure.EndedEarly, `request "talk": the server closed the connection with code 1011 after 0 messages, before the last one`},
		"going away":   {closes(0xe9, ""), measure.EndedEarly, `request "talk": the server closed the connection with code 1001 after 0 messages, before the last one`},
		"no such code": {closes(0xed, ""), measure.BadResponse, `read: a close has the code 1005, which must not be sent`},
	} {
		t.Run(name, func(t *testing.T) {
			a := workertest.Assignment(workertest.NewTarget(t, tt.serve).URL, workertest.Burst(0, 1, 1))
			a.Requests = []*workerv1.Request{talk("hello")}
			got := errorsOf(run(t, prepared(t, a, testConfig(), ignore)))
			same.As(t, "errors", map[measure.Outcome]string{tt.outcome: tt.text}, got)
		})
	}
	a := workertest.Assignment(workertest.NewTarget(t, closes(0xf3, "secret")).URL, workertest.Burst(0, 1, 1))
	a.Requests, a.ExposeResponses = []*workerv1.Request{talk("hello")}, true
	got := errorsOf(run(t, prepared(t, a, testConfig(), ignore)))[measure.EndedEarly]
	if want := `; the target sent "secret"`; !strings.HasSuffix(got, want) {
		t.Errorf("with responses exposed the error is %s, want that it ends with %s", got, want)
	}
}

// The headers of a target, of its login and of its traces are those of the upgrade, too.
func TestHeadersOfTheUpgrade(t *testing.T) {
	seen := make(chan http.Header, 1)
	target := workertest.NewTarget(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header })
	a := workertest.Assignment(target.URL, workertest.Burst(0, 1, 1))
	a.Target.TraceSampled = 1e6
	a.Requests = []*workerv1.Request{talk("hello")}
	a.Requests[0].Headers = []*workerv1.Header{{Name: "x-user", Value: "${user}"}, {Name: "authorization", ValueFile: file(t, "Bearer x\n")}}
	a.Requests[0].WebSocket.Subprotocol = "chat"
	run(t, prepared(t, a, testConfig(), ignore))
	h := <-seen
	got := []string{h.Get("X-User"), h.Get("Authorization"), h.Get("Sec-Websocket-Protocol"), h.Get("Upgrade"), h.Get("Connection")}
	same.As(t, "headers", []string{"0", "Bearer x", "chat", "websocket", "Upgrade"}, got)
	if h.Get("Traceparent") == "" {
		t.Error("there is no traceparent")
	}
}

func TestRequestsOfWebSocketThatCannotBeSent(t *testing.T) {
	wantInvalid(t, func() *workerv1.Assignment {
		a := workertest.Assignment(workertest.NewTarget(t, nil).URL, arrivals())
		a.Requests = []*workerv1.Request{talk("hello")}
		return a
	}, map[string]invalid{
		"vegeta":  {func(a *workerv1.Assignment) { a.Driver = workerv1.Driver_DRIVER_VEGETA }, `request "talk": webSocket: is not sent by worker.driver Vegeta; use driver Auto`},
		"HTTP/2":  {func(a *workerv1.Assignment) { a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2 }, `request "talk": webSocket: goes over HTTP/1.1; leave out target.protocol`},
		"a proxy": {func(a *workerv1.Assignment) { a.Target.ProxyUrl = "http://a.test" }, `request "talk": webSocket: does not go through target.proxy`},
		"a header": {func(a *workerv1.Assignment) {
			a.Requests[0].Headers = []*workerv1.Header{{Name: "upgrade", Value: "h2c"}}
		}, `request "talk": header "upgrade": follows from webSocket; leave it out`},
		"no last message":   {func(a *workerv1.Assignment) { a.Requests[0].Stream.Count = 0 }, `request "talk": webSocket: which message is the last one must be known`},
		"an unknown column": {func(a *workerv1.Assignment) { a.Requests[0].WebSocket.Send = []string{"a", "${b}"} }, `request "talk": webSocket.send[1]: unknown variable ${b}`},
		"a row that would be a header": {func(a *workerv1.Assignment) {
			a.Data = []*workerv1.Data{{Name: "words", File: file(t, "word\n\"a\r\nX: b\"\n")}}
			a.Requests[0].Headers = []*workerv1.Header{{Name: "x-word", Value: "${word}"}}
		}, `holds a control character, and stands in a header`},
		"a row that would end the path": {func(a *workerv1.Assignment) {
			a.Data = []*workerv1.Data{{Name: "words", File: file(t, "word\na b\n")}}
			a.Requests[0].Path = "/${word}"
		}, `the character at 1 must be percent-encoded, as it stands in a path`},
		"setup": {func(a *workerv1.Assignment) {
			a.Setup = &workerv1.Setup{WarmUp: &workerv1.WarmUp{Request: 0, DurationNanos: 1}}
		}, `request "talk": webSocket: cannot be sent by setup`},
	})
}

// A row that is not UTF-8 is no text message. The request is not sent, and its error shows nothing of the row.
func TestMessagesThatAreNotText(t *testing.T) {
	var messages atomic.Int64
	target := workertest.NewTarget(t, echo(&messages))
	a := workertest.Assignment(target.URL, workertest.Burst(0, 1, 2))
	a.Data = []*workerv1.Data{{Name: "words", File: file(t, "word\nsecret\xff\n")}}
	a.Requests = []*workerv1.Request{talk("hello", "${word}")}
	m := run(t, prepared(t, a, testConfig(), ignore))
	same.As(t, "errors", map[measure.Outcome]string{
		measure.Other: `request "talk": webSocket.send[1]: a variable has a value that is not UTF-8, which text messages must be`,
	}, errorsOf(m))
	if n := target.Served(); n != 0 {
		t.Errorf("%d requests came", n)
	}
}

// Another target may get requests of WebSocket, alone or beside others, as its own policy permits.
func TestRequestsOfWebSocketGoToTheirTarget(t *testing.T) {
	for name, step := range map[string]*workerv1.Step{"users": workertest.Burst(0, 3, 9), "arrivals": arrivals()} {
		for _, mixed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var messages atomic.Int64
				shop, market := workertest.NewTarget(t, nil), workertest.NewTarget(t, echo(&messages))
				a := withOther(shop.URL, market.URL, step)
				token := a.Requests[1]
				a.Requests[1] = talk("hello", "bye")
				a.Requests[1].Target = 1
				if mixed {
					a.Requests = append(a.Requests, token)
				}
				m := run(t, prepared(t, a, testConfig(), ignore))
				same.As(t, "errors", map[measure.Outcome]string{}, errorsOf(m))
				talked, toMarket := m.Requests[1].Sent, m.Requests[1].Sent
				if mixed {
					toMarket += m.Requests[2].Sent
				}
				if talked == 0 || messages.Load() != 2*talked || shop.Served() != m.Requests[0].Sent || market.Served() != toMarket {
					t.Errorf("%d messages of %d connections came; the targets served %d and %d, want %d and %d", messages.Load(), talked, shop.Served(), market.Served(), m.Requests[0].Sent, toMarket)
				}
			})
		}
	}
	a := withOther(workertest.NewTarget(t, nil).URL, workertest.NewTarget(t, nil).URL, arrivals())
	a.Requests[1] = talk("hello")
	a.Requests[1].Target = 1
	a.OtherTargets[0].AllowSpecialAddresses = false
	if got := refusal(t, a, testConfig()).Error(); !strings.Contains(got, a.OtherTargets[0].Url) {
		t.Errorf("refused: %s, want that the policy of %s does not permit it", got, a.OtherTargets[0].Url)
	}
}
