// The race detector looks at the tests of this file, too: streams are read by event loops.

package transport_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
)

// streamSender sends requests over one connection.
type streamSender interface {
	send(r *transport.Request, timeout time.Duration) (transport.Response, error)
	// interrupt has the request that is sent next interrupted after a time.
	interrupt(after time.Duration)
}

// world is what senders and servers are in.
type world struct {
	network *virtual.Network
	still   atomic.Int64 // nanoseconds for which the process stands still, when what it waits for next has come
}

// stand stands still if the process is to.
func (w *world) stand() {
	if still := w.still.Swap(0); still > 0 {
		<-time.After(time.Duration(still))
	}
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := w.network.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return standingConn{c, c.(syscall.Conn), w}, nil
}

type standingClock struct {
	loop.Clock
	*world
}

func (c standingClock) Wait(epoll int, timeout time.Duration) {
	c.Clock.Wait(epoll, timeout)
	c.stand()
}

type standingConn struct {
	net.Conn
	raw syscall.Conn
	*world
}

func (c standingConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }

func (c standingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.stand()
	return n, err
}

// streamWay is a way to send requests whose responses are streams.
type streamWay struct {
	name       string
	h2, secure bool
	from       func(t *testing.T, d *dial.Dialer, w *world) streamSender
}

var streamWays = []streamWay{
	{"loop", false, false, http1Loop}, {"loop over TLS", false, true, http1Loop},
	{"conn", false, false, http1Conn}, {"conn over TLS", false, true, http1Conn},
	{"one shot", false, false, oneShot},
	{"net/http", false, false, netHTTP}, {"net/http over TLS", false, true, netHTTP},
	{"net/http over HTTP/2", true, false, netHTTP}, {"net/http over HTTP/2 and TLS", true, true, netHTTP},
	{"pool", false, false, pool}, {"pool over HTTP/2", true, false, pool},
	{"loop of HTTP/2", true, false, http2Loop}, {"loop of HTTP/2 over TLS", true, true, http2Loop},
	{"conn of HTTP/2", true, false, http2Conn}, {"conn of HTTP/2 over TLS", true, true, http2Conn},
}

func http1Conn(t *testing.T, d *dial.Dialer, _ *world) streamSender {
	return newConnSender(t, http1.NewClient(d, ""))
}

func http2Conn(t *testing.T, d *dial.Dialer, _ *world) streamSender {
	return newConnSender(t, http2.NewClient(d, "", http2.Shared{}))
}

func netHTTP(t *testing.T, d *dial.Dialer, _ *world) streamSender {
	return newConnSender(t, nethttp.NewClient(d, ""))
}

func pool(t *testing.T, d *dial.Dialer, _ *world) streamSender {
	return newConnSender(t, throughPool{nethttp.NewPool(d, "", true)})
}

func oneShot(t *testing.T, d *dial.Dialer, _ *world) streamSender {
	return newConnSender(t, transport.NewOneShot(http1.NewClient(d, "")))
}

type connSender struct{ transport.Conn }

func newConnSender(t *testing.T, c transport.Client) streamSender {
	t.Helper()
	s := connSender{c.NewConn()}
	t.Cleanup(s.Close)
	return s
}

func (s connSender) interrupt(after time.Duration) { time.AfterFunc(after, s.Interrupt) }

func (s connSender) send(r *transport.Request, timeout time.Duration) (transport.Response, error) {
	return s.Do(context.Background(), r, time.Now().Add(timeout))
}

// result is the outcome of a request of a loop.
type result struct {
	response transport.Response
	err      error
}

// loopSender is what senders by loops have in common.
type loopSender struct {
	start       time.Time
	interrupted time.Duration // when the loop is interrupted; 0: it is not
	ended       *result
}

func (s *loopSender) interrupt(after time.Duration) { s.interrupted = time.Since(s.start) + after }

// await waits until the request has ended.
func (s *loopSender) await(l waiter) (transport.Response, error) {
	for s.ended == nil {
		until := time.Since(s.start) + time.Hour
		if s.interrupted > 0 {
			until = s.interrupted
		}
		if l.Wait(until); s.interrupted > 0 && time.Since(s.start) >= s.interrupted {
			l.Interrupt()
		}
	}
	return s.ended.response, s.ended.err
}

// waiter is an event loop.
type waiter interface {
	Wait(until time.Duration)
	Interrupt()
}

type http1LoopSender struct {
	loopSender
	*http1.Loop
	conn http1.LoopConn
}

func http1Loop(t *testing.T, d *dial.Dialer, w *world) streamSender {
	t.Helper()
	client := http1.NewClient(d, "")
	s := &http1LoopSender{loopSender: loopSender{start: time.Now()}}
	l, err := client.NewLoop(s.start, func(_ *http1.LoopConn, r transport.Response, err error) { s.ended = &result{r, err} })
	must.Succeed(t, err)
	t.Cleanup(l.Close)
	l.Clock, s.Loop = standingClock{w.network.Clock(), w}, l
	l.Add(&s.conn, client.NewConn().(*http1.Conn))
	return s
}

func (s *http1LoopSender) send(r *transport.Request, timeout time.Duration) (transport.Response, error) {
	s.ended = nil
	s.Send(context.Background(), &s.conn, r, time.Since(s.start)+timeout)
	return s.await(s.Loop)
}

type http2LoopSender struct {
	loopSender
	*http2.Loop
	conn   http2.LoopConn
	stream http2.LoopStream
}

func http2Loop(t *testing.T, d *dial.Dialer, w *world) streamSender {
	t.Helper()
	client := http2.NewClient(d, "", http2.Shared{})
	s := &http2LoopSender{loopSender: loopSender{start: time.Now()}}
	l, err := client.NewLoop(s.start, func(_ *http2.LoopStream, r transport.Response, err error) { s.ended = &result{r, err} })
	must.Succeed(t, err)
	t.Cleanup(l.Close)
	l.Clock, s.Loop = standingClock{w.network.Clock(), w}, l
	l.Add(&s.conn, client.NewConn().(*http2.Conn))
	return s
}

func (s *http2LoopSender) send(r *transport.Request, timeout time.Duration) (transport.Response, error) {
	s.ended = nil
	s.Send(context.Background(), &s.stream, &s.conn, r, time.Since(s.start)+timeout)
	return s.await(s.Loop)
}

// outcomeOf is the class of an error, "" of none.
func outcomeOf(err error) string {
	if err == nil {
		return ""
	}
	return failure.Classify(err).String()
}

// seen is a watcher that notes what it is told, and when.
type seen struct {
	start time.Time
	list  []string
}

func (s *seen) Came(n int, _ time.Duration) {
	s.list = append(s.list, fmt.Sprintf("%v:%d", time.Since(s.start), n))
}

// part is a part of a body, which a server writes after a time, in one chunk or frame.
type part struct {
	after time.Duration
	text  string
}

// How a server ends a response.
const (
	ends   = "it ends"
	holds  = "it goes on without a word"
	breaks = "it breaks off"
)

// tells is a server that writes parts of a body.
func tells(status int, end string, parts ...part) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" {
			_, _ = io.WriteString(w, "plain")
			return
		}
		w.WriteHeader(status)
		_ = http.NewResponseController(w).Flush()
		for _, p := range parts {
			<-time.After(p.after)
			_, _ = io.WriteString(w, p.text)
			_ = http.NewResponseController(w).Flush()
		}
		switch end {
		case holds:
			<-r.Context().Done()
		case breaks:
			panic(http.ErrAbortHandler)
		}
	}
}

// overStreams runs a test over each way, in a bubble of virtual time, with a server.
func overStreams(t *testing.T, handle http.HandlerFunc, test func(t *testing.T, way streamWay, s streamSender, w *world)) {
	t.Helper()
	overStreamsThat(func(streamWay) bool { return true }, t, handle, test)
}

// overStreamsThat runs a test over the ways of a kind.
func overStreamsThat(is func(streamWay) bool, t *testing.T, handle http.HandlerFunc, test func(t *testing.T, way streamWay, s streamSender, w *world)) {
	t.Helper()
	client, server := scripted.Identity(t)
	for _, way := range streamWays {
		if !is(way) {
			continue
		}
		w := &world{network: virtual.NewNetwork(t)}
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { <-time.After(time.Minute) }) // what goes on at the end has time to end
				test(t, way, way.to(t, w, handle, client, server), w)
			})
		})
	}
}

// to returns a sender to a server.
func (way streamWay) to(t *testing.T, w *world, handle http.HandlerFunc, client, server *tls.Config) streamSender {
	t.Helper()
	o := &httptest.Server{Listener: w.network.Listen(), Config: &http.Server{Handler: handle, Protocols: &http.Protocols{}}}
	o.Config.Protocols.SetHTTP1(true)
	o.Config.Protocols.SetUnencryptedHTTP2(true)
	if way.secure {
		o.Config.Protocols.SetHTTP2(true)
		o.TLS = server.Clone()
		o.StartTLS()
	} else {
		o.Start()
	}
	t.Cleanup(func() {
		w.network.Deliver()
		o.CloseClientConnections()
		o.Close()
	})
	return way.from(t, scripted.NewDialer(t, dial.Config{URL: o.URL, Dial: w.dial, TLS: client, HTTP2: way.h2}), w)
}

func streamed(of transport.Stream, w transport.Watcher) *transport.Request {
	return &transport.Request{Method: "GET", Path: []byte("/"), Stream: &of, Watcher: w, Keep: 1000}
}

const (
	ms    = time.Millisecond
	stall = 100 * ms
)

// Of each response, the watcher is told in the very instant in which events come, and the outcome says
// what came of it.
func TestStreamsAreReadAsTheyCome(t *testing.T) {
	sse := transport.Stream{}
	until := transport.Stream{Until: "[DONE]"}
	stalls := transport.Stream{Stall: stall}
	both := transport.Stream{Until: "[DONE]", Stall: stall}
	for name, tt := range map[string]struct {
		stream  transport.Stream
		status  int
		parts   []part
		end     string
		timeout time.Duration
		seen    string
		want    transport.Streamed
		outcome string // "": success
		took    time.Duration
		goesOn  bool // the connection of HTTP/1.1 is used again
	}{
		"events one by one": {stream: sse, parts: []part{{10 * ms, "data: a\n\n"}, {20 * ms, "data: b\n\n"}, {30 * ms, "data: c\n\n"}},
			seen: "10ms:1 30ms:1 60ms:1", want: transport.Streamed{Events: 3}, took: 60 * ms, goesOn: true},
		"several at once": {stream: sse, parts: []part{{10 * ms, "data: a\n\ndata: b\n\ndata"}, {10 * ms, ": c\n"}, {10 * ms, "\n: hi\n\n"}, {10 * ms, "\n"}},
			seen: "10ms:2 30ms:1", want: transport.Streamed{Events: 3}, took: 40 * ms, goesOn: true},
		"no event": {stream: sse, parts: []part{{10 * ms, ": hi\n\n"}, {stall, "data: a"}}, took: 110 * ms, goesOn: true},
		"lines": {stream: transport.Stream{Events: transport.Lines}, parts: []part{{10 * ms, "{}\n{"}, {10 * ms, "}"}, {10 * ms, "\n\n"}, {10 * ms, "{}"}, {10 * ms, ""}},
			seen: "10ms:1 30ms:1 50ms:1", want: transport.Streamed{Events: 3}, took: 50 * ms, goesOn: true},
		"chunks": {stream: transport.Stream{Events: transport.Chunks, Until: "last"}, parts: []part{{10 * ms, "a"}, {10 * ms, "b"}, {10 * ms, "last"}, {10 * ms, "c"}},
			seen: "10ms:1 20ms:1 30ms:1", want: transport.Streamed{Events: 3, Ended: true}, took: 40 * ms, goesOn: true},
		"a gap as long as it may be": {stream: stalls, parts: []part{{10 * ms, "data: a\n\n"}, {stall - 1, "data: b\n\n"}, {stall - 1, "data: c\n\n"}, {stall - 1, ""}},
			seen: "10ms:1 109.999999ms:1 209.999998ms:1", want: transport.Streamed{Events: 3}, took: 10*ms + 3*(stall-1), goesOn: true},
		"a gap that is longer": {stream: stalls, parts: []part{{10 * ms, "data: a\n\n"}, {50 * ms, "data: b\n\n"}, {stall + 1, "data: c\n\n"}},
			seen: "10ms:1 60ms:1", want: transport.Streamed{Events: 2}, took: 60*ms + stall, outcome: "stalled"},
		"what is no event ends no gap": {stream: stalls, parts: []part{{10 * ms, "data: a\n\n"}, {60 * ms, ": hi\n\n"}, {60 * ms, "data: b\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 10*ms + stall, outcome: "stalled"},
		"a long wait for the first event": {stream: stalls, parts: []part{{10 * stall, "data: a\n\n"}},
			seen: "1s:1", want: transport.Streamed{Events: 1}, took: 10 * stall, goesOn: true},
		"stalled after the last chunk": {stream: stalls, end: holds, parts: []part{{10 * ms, "data: a\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 10*ms + stall, outcome: "stalled"},
		"the deadline is before that": {stream: stalls, end: holds, timeout: 50 * ms, parts: []part{{10 * ms, "data: a\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 50 * ms, outcome: "timeout"},
		"the deadline ends a stream that goes on": {stream: stalls, end: holds, timeout: 250 * ms,
			parts: []part{{10 * ms, "data: a\n\n"}, {90 * ms, "data: b\n\n"}, {90 * ms, "data: c\n\n"}},
			seen:  "10ms:1 100ms:1 190ms:1", want: transport.Streamed{Events: 3}, took: 250 * ms, outcome: "timeout"},
		"the deadline ends one without an event": {stream: stalls, end: holds, timeout: 250 * ms, took: 250 * ms, outcome: "timeout"},
		"the last event, and the end": {stream: both, parts: []part{{10 * ms, "data: a\n\n"}, {10 * ms, "data: [DONE]\n\n"}, {50 * ms, "data: b\n\n"}},
			seen: "10ms:1 20ms:1", want: transport.Streamed{Events: 2, Ended: true}, took: 70 * ms, goesOn: true},
		"the end a second after the last event": {stream: both, parts: []part{{10 * ms, "data: [DONE]\n\n"}, {time.Second - 1, ""}},
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true}, took: 1010*ms - 1, goesOn: true},
		"no end after the last event": {stream: both, end: holds, parts: []part{{10 * ms, "data: a\n\n"}, {10 * ms, "data: [DONE]\n\ndata: b\n\n"}},
			seen: "10ms:1 20ms:1", want: transport.Streamed{Events: 2, Ended: true, Left: true}, took: 1020 * ms},
		"no end after the last event, which is the first": {stream: until, end: holds, parts: []part{{10 * ms, "data: [DONE]\n\n"}, {600 * ms, "data: a\n\n"}, {600 * ms, "data: a\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true, Left: true}, took: 1010 * ms},
		"the deadline is soon after the last event": {stream: both, end: holds, timeout: 500 * ms, parts: []part{{10 * ms, "data: [DONE]\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true, Left: true}, took: 500 * ms},
		"broken off after the last event": {stream: both, end: breaks, parts: []part{{10 * ms, "data: [DONE]\n\n"}, {10 * ms, ""}},
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true, Left: true}, took: 20 * ms},
		"broken off": {stream: both, end: breaks, parts: []part{{10 * ms, "data: a\n\n"}, {10 * ms, "data: [DO"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 20 * ms, outcome: "reset"},
		"broken off before an event": {stream: both, end: breaks, parts: []part{{10 * ms, "da"}}, took: 10 * ms, outcome: "reset"},
		"the end without the last event": {stream: until, parts: []part{{10 * ms, "data: a\n\n"}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 10 * ms, goesOn: true},
		"an error's body is no stream": {stream: both, status: 503, parts: []part{{10 * ms, "data: a\n\n"}, {2 * stall, "data: [DONE]\n\n"}, {2 * time.Second, "c"}},
			took: 2210 * ms, goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.status == 0 {
				tt.status = 200
			}
			if tt.timeout == 0 {
				tt.timeout = time.Minute
			}
			overStreams(t, tells(tt.status, tt.end, tt.parts...), func(t *testing.T, way streamWay, s streamSender, _ *world) {
				plain := func(reused bool) {
					r, err := s.send(&transport.Request{Method: "GET", Path: []byte("/plain"), Keep: 10}, time.Minute)
					if err != nil || r.Status != 200 || string(r.Body) != "plain" || r.Streamed != (transport.Streamed{}) || way.keeps() && r.Reused != reused {
						t.Errorf("beside it: %+v, %v; want plain, over a connection that is reused: %v", r, err, reused)
					}
				}
				plain(false)
				w := &seen{start: time.Now()}
				r, err := s.send(streamed(tt.stream, w), tt.timeout)
				outcome, took := outcomeOf(err), time.Since(w.start)
				if got := strings.Join(w.list, " "); got != tt.seen || took != tt.took {
					t.Errorf("came %q in %v, want %q in %v", got, took, tt.seen, tt.took)
				}
				if outcome != tt.outcome || r.Streamed != tt.want {
					t.Errorf("%+v, %v; want %+v, %q", r.Streamed, err, tt.want, tt.outcome)
				}
				if sent := join(tt.parts); err == nil && (r.Status != tt.status || !strings.HasPrefix(sent, string(r.Body)) || !r.Streamed.Left && string(r.Body) != sent || r.Streamed.Ended && !strings.Contains(string(r.Body), tt.stream.Until)) {
					t.Errorf("status %d and %q; want %d and %q", r.Status, r.Body, tt.status, sent)
				}
				plain(tt.goesOn || way.h2 && (tt.outcome != "timeout" || !way.closes()))
			})
		})
	}
}

// Of a stream that is compressed, no byte is taken for the end of an event: the request fails, and says why.
func TestStreamsThatAreCompressed(t *testing.T) {
	for name, tt := range map[string]struct {
		encoding string
		status   int
		outcome  string // "": success
		want     transport.Streamed
	}{
		"gzip":              {encoding: "gzip", status: 200, outcome: "badResponse"},
		"br, of a 201":      {encoding: "br", status: 201, outcome: "badResponse"},
		"identity":          {encoding: "Identity", status: 200, want: transport.Streamed{Events: 2}},
		"gzip, of an error": {encoding: "gzip", status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			handle := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/plain" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				tells(tt.status, "", part{10 * ms, "a\nb\n"})(w, r)
			}
			overStreams(t, handle, func(t *testing.T, _ streamWay, s streamSender, _ *world) {
				w := &seen{start: time.Now()}
				r, err := s.send(streamed(transport.Stream{Events: transport.Lines}, w), time.Minute)
				if outcome := outcomeOf(err); outcome != tt.outcome || r.Streamed != tt.want || outcome != "" && !errors.Is(err, failure.ErrEncoded) {
					t.Errorf("%+v, %v; want %+v, %q", r.Streamed, err, tt.want, tt.outcome)
				}
				if r, err := s.send(&transport.Request{Method: "GET", Path: []byte("/plain"), Keep: 10}, time.Minute); err != nil || string(r.Body) != "plain" {
					t.Errorf("after it: %+v, %v; want plain", r, err)
				}
			})
		})
	}
}

// stands is a watcher that has the process stand still after the first event. What comes at one instant is
// one entry of its list: reads may be smaller than what had come.
type stands struct {
	seen
	world *world
	last  time.Time
	came  int
}

func (s *stands) Came(n int, waited time.Duration) {
	if len(s.list) == 0 {
		s.world.still.Store(int64(5 * time.Second))
	}
	if now := time.Now(); now.Equal(s.last) {
		n += s.came
		s.list = s.list[:len(s.list)-1]
	}
	s.last, s.came = time.Now(), n
	s.seen.Came(n, waited)
}

// A process that stood still reads what came meanwhile before it calls a stream stalled, and before it leaves one
// after its last event.
func TestAProcessThatStoodStillReadsWhatHasCome(t *testing.T) {
	for name, tt := range map[string]struct {
		parts   []part
		end     string
		seen    string
		want    transport.Streamed
		outcome string
		took    time.Duration
		late    time.Duration // by which a goroutine may take longer: it waits a little for the rest of a record
	}{
		"events": {parts: []part{{10 * ms, "data: a\n\n"}, {50 * ms, "data: b\n\n"}, {50 * ms, "data: c\n\n"}, {5 * time.Second, "data: d\n\n"}}, end: holds,
			seen: "10ms:1 5.06s:2 5.11s:1", want: transport.Streamed{Events: 4}, outcome: "stalled", took: 5110*ms + stall},
		"an event after the stall": {parts: []part{{10 * ms, "data: a\n\n"}, {stall + 1, "data: b\n\n"}, {2 * time.Second, "data: c\n\n"}}, end: holds,
			seen: "10ms:1 5.11s:2", want: transport.Streamed{Events: 3}, outcome: "stalled", took: 5110*ms + stall},
		"nothing": {parts: []part{{10 * ms, "data: a\n\n"}}, end: holds,
			seen: "10ms:1", want: transport.Streamed{Events: 1}, outcome: "stalled", took: 5110 * ms},
		"what is no event": {parts: []part{{10 * ms, "data: a\n\n"}, {stall + 1, ":\n"}}, end: holds,
			seen: "10ms:1", want: transport.Streamed{Events: 1}, outcome: "stalled", took: 5110 * ms, late: 20 * ms},
		"the end": {parts: []part{{10 * ms, "data: a\n\n"}, {stall + 1, ""}},
			seen: "10ms:1", want: transport.Streamed{Events: 1}, took: 5110 * ms},
		"the end after the last event": {parts: []part{{10 * ms, "data: [DONE]\n\n"}, {2 * time.Second, ""}},
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true}, took: 6010 * ms},
		"nothing after the last event": {parts: []part{{10 * ms, "data: [DONE]\n\n"}}, end: holds,
			seen: "10ms:1", want: transport.Streamed{Events: 1, Ended: true, Left: true}, took: 6010 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			overStreamsThat(streamWay.standsStill, t, tells(200, tt.end, tt.parts...), func(t *testing.T, way streamWay, s streamSender, world *world) {
				w := &stands{seen: seen{start: time.Now()}, world: world}
				r, err := s.send(streamed(transport.Stream{Until: "[DONE]", Stall: stall}, w), time.Minute)
				outcome, late := outcomeOf(err), tt.late
				if !way.closes() {
					late = 0
				}
				if got, took := strings.Join(w.list, " "), time.Since(w.start); got != tt.seen || took < tt.took || took > tt.took+late || r.Streamed != tt.want || outcome != tt.outcome {
					t.Errorf("came %q in %v, %+v, %q; want %q in %v, %+v, %q", got, took, r.Streamed, outcome, tt.seen, tt.took, tt.want, tt.outcome)
				}
			})
		})
	}
}

// What is under way at the end of a step is interrupted, with what came of it.
func TestStreamsAreInterrupted(t *testing.T) {
	parts := []part{{10 * ms, "data: a\n\n"}, {10 * ms, "data: [DONE]\n\n"}}
	for name, tt := range map[string]struct {
		after time.Duration
		want  transport.Streamed
	}{
		"before the first event": {5 * ms, transport.Streamed{}},
		"after an event":         {15 * ms, transport.Streamed{Events: 1}},
		"after the last event":   {25 * ms, transport.Streamed{Events: 2, Ended: true}},
	} {
		t.Run(name, func(t *testing.T) {
			overStreamsThat(streamWay.interrupts, t, tells(200, holds, parts...), func(t *testing.T, _ streamWay, s streamSender, _ *world) {
				w := &seen{start: time.Now()}
				s.interrupt(tt.after)
				r, err := s.send(streamed(transport.Stream{Until: "[DONE]", Stall: stall}, w), time.Minute)
				if took := time.Since(w.start); !errors.Is(err, failure.ErrInterrupted) || r.Streamed != tt.want || took != tt.after {
					t.Errorf("%+v, %v after %v; want %+v, interrupted after %v", r.Streamed, err, took, tt.want, tt.after)
				}
			})
		})
	}
}

// A server that sends without an end, a byte at a time or much, is ended by the stall or by the deadline.
func TestStreamsWithoutAnEnd(t *testing.T) {
	endless := func(text string, every time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "data: a\n\ndata: ")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, text); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				<-time.After(every)
			}
		}
	}
	for name, tt := range map[string]struct {
		text    string
		stream  transport.Stream
		events  int64
		outcome string
		took    time.Duration
	}{
		"bytes that are no event":  {"x", transport.Stream{Stall: stall}, 1, "stalled", stall},
		"bytes, and no stall":      {"x", transport.Stream{}, 1, "timeout", time.Second},
		"an event without an end":  {strings.Repeat("x", 1<<16), transport.Stream{Stall: stall}, 1, "stalled", stall},
		"comments":                 {"\n\n:\n\n", transport.Stream{Stall: stall, Until: "x"}, 2, "stalled", stall},
		"events, and not the last": {"\n\ndata: ", transport.Stream{Stall: stall, Until: "x"}, 1 + 500, "timeout", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			overStreams(t, endless(tt.text, 2*ms), func(t *testing.T, _ streamWay, s streamSender, _ *world) {
				w := &seen{start: time.Now()}
				r, err := s.send(streamed(tt.stream, w), time.Second)
				took := time.Since(w.start)
				inTime := took >= tt.took && took <= tt.took+10*ms // a goroutine reads the rest of a record that had come in part
				if err == nil || failure.Classify(err).String() != tt.outcome || r.Streamed.Events < tt.events-1 || r.Streamed.Events > tt.events+6 || !inTime {
					t.Errorf("%d events, %v after %v; want %d, %s after %v", r.Streamed.Events, err, took, tt.events, tt.outcome, tt.took)
				}
			})
		})
	}
}

// The messages of a call that streams are its events.
func TestMessagesOfCallsAreReadAsTheyCome(t *testing.T) {
	message := func(text string) string { return "\x00\x00\x00\x00" + string(rune(len(text))) + text }
	parts := []part{{10 * ms, message("a") + message("b")}, {10 * ms, message("cd")[:6]}, {10 * ms, message("cd")[6:]}, {50 * ms, message("")}}
	for name, tt := range map[string]struct {
		of      transport.Stream
		end     string
		seen    string
		want    transport.Streamed
		outcome string
		took    time.Duration
	}{
		"to the end":          {seen: "10ms:2 30ms:1 80ms:1", want: transport.Streamed{Events: 4}, took: 80 * ms},
		"until one of them":   {of: transport.Stream{Until: "cd"}, end: holds, seen: "10ms:2 30ms:1", want: transport.Streamed{Events: 3, Ended: true, Left: true}, took: 30*ms + time.Second},
		"with a stall":        {of: transport.Stream{Stall: 30 * ms}, seen: "10ms:2 30ms:1", want: transport.Streamed{Events: 3}, outcome: "stalled", took: 60 * ms},
		"without a status":    {end: breaks, seen: "10ms:2 30ms:1 80ms:1", want: transport.Streamed{Events: 4}, outcome: "reset", took: 80 * ms},
		"beyond its deadline": {end: holds, seen: "10ms:2 30ms:1 80ms:1", want: transport.Streamed{Events: 4}, outcome: "timeout", took: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			body := tells(200, tt.end, parts...)
			overStreamsThat(streamWay.sendsCalls, t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/grpc")
				body(w, r)
				w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			}, func(t *testing.T, _ streamWay, s streamSender, _ *world) {
				w := &seen{start: time.Now()}
				tt.of.Events = transport.Messages
				r, err := s.send(&transport.Request{Method: "POST", Path: []byte("/a.B/C"), Call: true, Replies: transport.Replies{Stream: true}, Stream: &tt.of, Watcher: w}, 10*time.Second)
				outcome, took := outcomeOf(err), time.Since(w.start)
				if got := strings.Join(w.list, " "); got != tt.seen || r.Streamed != tt.want || outcome != tt.outcome || took != tt.took || r.Status != 0 {
					t.Errorf("came %q in %v, %+v, status %d, %v; want %q in %v, %+v, %q", got, took, r.Streamed, r.Status, err, tt.seen, tt.took, tt.want, tt.outcome)
				}
			})
		})
	}
}

func join(parts []part) (text string) {
	for _, p := range parts {
		text += p.text
	}
	return text
}

// closes reports whether a timeout of a request closes the connection, even of HTTP/2.
func (way streamWay) closes() bool { return strings.HasPrefix(way.name, "conn") }

// standsStill reports whether a clock or a connection can stand still for the process: a connection of plain
// HTTP/1.1 reads by itself, and net/http waits by timers, too.
func (way streamWay) standsStill() bool {
	return strings.HasPrefix(way.name, "loop") || strings.HasPrefix(way.name, "conn") && (way.h2 || way.secure)
}

// interrupts reports whether requests are ended by Interrupt. A pool ends them by their contexts.
func (way streamWay) interrupts() bool { return !strings.HasPrefix(way.name, "pool") }

// sendsCalls reports whether the client sends calls of gRPC.
func (way streamWay) sendsCalls() bool {
	return way.h2 && !strings.Contains(way.name, "net/http") && !strings.Contains(way.name, "pool")
}

// keeps reports whether the way keeps connections for further requests.
func (way streamWay) keeps() bool { return way.name != "one shot" }
