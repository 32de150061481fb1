package nethttp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestOpenOpensOneConnection(t *testing.T) {
	for name, config := range scripted.Protocols(t, http.HandlerFunc(echo)) {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, config)
			conn := d.NewConn()
			defer conn.Close()
			for range 2 {
				if err := conn.Open(context.Background(), scripted.Far()); err != nil || !conn.IsOpen() || !conn.Alive() || d.Opened() != 1 {
					t.Errorf("Open = %v, open %v, %d opened; want the one connection", err, conn.IsOpen(), d.Opened())
				}
			}
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Reused {
				t.Errorf("Do = reused %v, %v; want on the one that was opened", got.Reused, err)
			}
		})
	}
}

func TestOpenReportsARefusal(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: "http://127.0.0.1:1"})
	conn := d.NewConn()
	err := conn.Open(context.Background(), scripted.Far())
	var e *failure.Error
	if failure.Classify(err) != measure.Refused || !errors.As(err, &e) || e.Phase != failure.Dialing || conn.IsOpen() || d.Opened() != 0 {
		t.Errorf("Open = %v, open %v, %d opened; want that it is refused", err, conn.IsOpen(), d.Opened())
	}
}

// The next request goes over another connection.
func TestConnIsOpenedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		status int
	}{
		"after Connection: close": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 200},
		"after HTTP/1.0":          {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 200},
		"after 101":               {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 101},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(tt.text)), scripted.Stay(scripted.Answer(scripted.Empty)))})
			conn := d.NewConn()
			defer conn.Close()
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != tt.status || conn.IsOpen() {
				t.Errorf("%d, %v, open %v; want %d, and that it is closed", got.Status, err, conn.IsOpen(), tt.status)
			}
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Reused || d.Opened() != 2 {
				t.Errorf("the next = reused %v, %v, %d opened; want it on the second", got.Reused, err, d.Opened())
			}
		})
	}
}

// A response reports whether its connection had carried a request, also beside an
// error. That is so unless net/http has dropped the connection meanwhile.
func TestFailuresReportReuse(t *testing.T) {
	for name, text := range map[string]string{
		"no response":   "",
		"half a body":   "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfo",
		"an odd status": "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Answer(scripted.Empty, text), scripted.Answer(scripted.Empty, text))})
			conn := d.NewConn()
			defer conn.Close()
			if _, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil {
				t.Fatal(err)
			}
			got, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
			if kept := d.Opened() == 1; got.Reused != kept || (err != nil) != kept {
				t.Errorf("reused %v, %v, %d opened; want that it fails on the first, or not on the second", got.Reused, err, d.Opened())
			}
		})
	}
}

// The client adds no Accept-Encoding, and counts the bytes as they were transferred.
func TestCompressionIsNotRequested(t *testing.T) {
	accepted := make(chan []string, 1)
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepted <- r.Header["Accept-Encoding"]
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "no gzip")
	})) {
		t.Run(name, func(t *testing.T) {
			conn := newTestClient(t, config).NewConn()
			defer conn.Close()
			got, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
			if asked := <-accepted; err != nil || got.Size != 7 || len(asked) > 0 {
				t.Errorf("%d bytes, %v, Accept-Encoding %q; want 7, and none", got.Size, err, asked)
			}
		})
	}
}

// A server without ALPN completes the handshake, and speaks HTTP/1.1.
func TestAnotherProtocolIsRefused(t *testing.T) {
	client, server := scripted.Identity(t)
	server.NextProtos = nil
	url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) { _, _ = io.Copy(io.Discard, tls.Server(c, server)) })
	conn := newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1), TLS: client, HTTP2: true}).NewConn()
	_, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
	if want := "the target does not offer HTTP/2 (by ALPN)"; err == nil || !strings.HasSuffix(err.Error(), want) || failure.Classify(err) != measure.TLS {
		t.Errorf("%v, of class %v; want %q, of class %v", err, failure.Classify(err), want, measure.TLS)
	}
}

// Each request of HTTP/2 names its scheme, and some servers check it.
func TestRequestsNameTheScheme(t *testing.T) {
	said := make(chan string, 1)
	plain := dial.Config{URL: scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) { said <- schemeOf(c, r) })}
	secured := scripted.ServeTLS(t, func(c *tls.Conn, r *bufio.Reader) { said <- schemeOf(c, r) })
	for want, config := range map[string]dial.Config{"http": plain, "https": secured} {
		t.Run(want, func(t *testing.T) {
			config.HTTP2 = true
			conn := newTestClient(t, config).NewConn()
			defer conn.Close()
			_, err := conn.Do(context.Background(), scripted.Get, scripted.Far()) // it is not answered
			if got := <-said; got != want {
				t.Errorf("the scheme is said to be %q (%v), want %q", got, err, want)
			}
		})
	}
}

// schemeOf returns the scheme of the first request on a connection of HTTP/2.
func schemeOf(w io.Writer, r io.Reader) string {
	if _, err := io.CopyN(io.Discard, r, int64(len(http2.ClientPreface))); err != nil {
		return err.Error()
	}
	framer := http2.NewFramer(w, r)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		return err.Error()
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err.Error()
		}
		if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
			return headers.PseudoValue("scheme")
		}
	}
}

// A response may be whole before net/http has sent the request's body. What it still reads
// then must not be what the next request is written into.
func TestBodiesOutliveTheirRequests(t *testing.T) {
	c := &conn{client: &Client{}}
	r := &transport.Request{Method: http.MethodPost, Body: []byte("first")}
	first := c.request(t.Context(), r)
	copy(r.Body, "other")
	second := c.request(t.Context(), r)
	for want, of := range map[string]*http.Request{"first": first, "other": second} {
		if got, err := io.ReadAll(of.Body); err != nil || string(got) != want {
			t.Errorf("the body of the %s request is %q, %v", want, got, err)
		}
	}
}

// The data of the latest event are kept, too, where the request asks for them: the tokens of a language model.
func TestTheLatestEventIsKept(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"a\":1}\n\ndata: {\"tokens\":7}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	c := NewClient(scripted.NewDialer(t, dial.Config{URL: s.URL}), "")
	q := &transport.Request{Method: "GET", Path: []byte("/"), Stream: &transport.Stream{Until: "[DONE]", Keep: 100}}
	r, err := c.NewConn().Do(t.Context(), q, scripted.Far())
	must.Succeed(t, err)
	if string(r.EventData) != `{"tokens":7}` || r.Streamed.Events != 3 {
		t.Errorf("%q of %+v", r.EventData, r.Streamed)
	}
}
