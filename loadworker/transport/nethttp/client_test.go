package nethttp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func newTestClient(t testing.TB, c dial.Config) *Client {
	t.Helper()
	return NewClient(scripted.NewDialer(t, c), "agent")
}

// echo answers with the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s %s %s %s|%v|%v|%v|%s", r.Proto, r.Method, r.RequestURI, r.Host,
		r.Header.Get("X-A"), r.Header["X-B"], r.Header["User-Agent"], r.ContentLength, body)
}

func TestRequestIsSentUnchanged(t *testing.T) {
	for name, config := range scripted.Protocols(t, http.HandlerFunc(echo)) {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, config)
			conn := d.NewConn()
			defer conn.Close()
			tests := map[string]struct {
				request transport.Request
				want    string
			}{
				"GET":             {transport.Request{Method: "GET", Path: []byte("/a%2Fb?q=%20"), Headers: []transport.Header{{Name: "X-A", Value: []byte("1")}, {Name: "X-B", Value: []byte("2")}, {Name: "X-B", Value: []byte("3")}}}, "GET /a%2Fb?q=%20 " + d.target.Host + " 1|[2 3]|[agent]|0|"},
				"POST":            {transport.Request{Method: "POST", Path: []byte("/"), Body: []byte("body"), Host: []byte("other.example")}, "POST / other.example |[]|[agent]|4|body"},
				"POST of nothing": {transport.Request{Method: "POST", Path: []byte("/")}, "POST / " + d.target.Host + " |[]|[agent]|0|"},
				"POST of a byte":  {transport.Request{Method: "POST", Path: []byte("/"), Body: []byte("b")}, "POST / " + d.target.Host + " |[]|[agent]|1|b"},
				"two agents":      {transport.Request{Method: "GET", Path: []byte("/"), Headers: []transport.Header{{Name: "User-Agent", Value: []byte("mine")}, {Name: "User-Agent", Value: []byte("too many")}}}, "GET / " + d.target.Host + " |[]|[mine]|0|"},
				"another agent":   {transport.Request{Method: "DELETE", Path: []byte("/"), Headers: []transport.Header{{Name: "User-Agent", Value: []byte("mine")}}}, "DELETE / " + d.target.Host + " |[]|[mine]|0|"},
			}
			for name, tt := range tests {
				tt.request.Keep = 1 << 10
				before := d.Opened()
				got, err := conn.Do(context.Background(), &tt.request, scripted.Far())
				if kept := before > 0 && d.Opened() == before; got.Reused != kept {
					t.Errorf("%s: reused is %v, want %v", name, got.Reused, kept)
				}
				want := "HTTP/1.1 " + tt.want
				if config.HTTP2 {
					want = "HTTP/2.0 " + tt.want
				}
				if err != nil || got.Status != 200 || string(got.Body) != want || got.Size != int64(len(want)) {
					t.Errorf("%s: %d of %d bytes, %v\n got %s\nwant %s", name, got.Status, got.Size, err, got.Body, want)
				}
			}
			// net/http closes a connection of HTTP/1.1 if it was not scheduled for 50 ms
			// after it had written a request.
			most := len(tests) - 1
			if config.HTTP2 {
				most = 1
			}
			if n := int(d.Opened()); n < 1 || n > most || config.HTTP2 && !conn.Alive() {
				t.Errorf("%d connections opened for %d requests, alive: %v; want one that is kept", n, len(tests), conn.Alive())
			}
			if want, _, _ := strings.Cut("net/http "+name, " over"); d.Name() != want {
				t.Errorf("named %q, want %q", d.Name(), want)
			}
		})
	}
}

func TestBodiesAreReadWhole(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 300_000))
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/moved":
			http.Redirect(w, r, "/large", http.StatusFound)
		}
	})
	for name, config := range scripted.Protocols(t, handler) {
		t.Run(name, func(t *testing.T) {
			conn := newTestClient(t, config).NewConn()
			defer conn.Close()
			tests := map[string]struct {
				method, path string
				keep, kept   int
				status       int
				size         int64
			}{
				"a large one":            {"GET", "/large", 0, 0, 200, 300_000},
				"its beginning":          {"GET", "/large", 100_000, 100_000, 200, 300_000},
				"all of it":              {"GET", "/large", 1 << 20, 300_000, 200, 300_000},
				"none to HEAD":           {"HEAD", "/large", 100, 0, 200, 0},
				"none with 204":          {"GET", "/none", 100, 0, 204, 0},
				"of a redirect, only it": {"HEAD", "/moved", 0, 0, 302, 0},
			}
			for name, tt := range tests {
				got, err := conn.Do(context.Background(), &transport.Request{Method: tt.method, Path: []byte(tt.path), Keep: tt.keep}, scripted.Far())
				if err != nil || got.Status != tt.status || got.Size != tt.size || len(got.Body) != tt.kept {
					t.Errorf("%s: %d of %d bytes, %d kept, %v; want %d, %d, %d", name, got.Status, got.Size, len(got.Body), err, tt.status, tt.size, tt.kept)
				}
			}
		})
	}
}

// In HTTP/2 a stream may fail while the connection goes on.
func TestFailedStreamKeepsTheConnection(t *testing.T) {
	started := make(chan struct{}, 10)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/hang":
			started <- struct{}{}
			<-r.Context().Done()
		}
	})
	for name, config := range scripted.Protocols(t, handler) {
		if !config.HTTP2 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, config)
			conn := d.NewConn()
			defer conn.Close()
			_, err := conn.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/abort")}, scripted.Far())
			if got := failure.Classify(err); got != measure.Reset {
				t.Errorf("a stream that was reset: %v, of class %v", err, got)
			}
			_, err = conn.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/hang")}, time.Now().Add(50*time.Millisecond))
			if got := failure.Classify(err); got != measure.Timeout {
				t.Errorf("silence: %v, of class %v", err, got)
			}
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 || d.Opened() != 1 {
				t.Errorf("then %d, %v on connection %d; want 200 on the first", got.Status, err, d.Opened())
			}
		})
	}
}

// A server that shuts down sends GOAWAY: the requests that it did not answer count as
// reset.
func TestShutdownOfTheServerIsAReset(t *testing.T) {
	hanging, closed := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(hanging)
		<-r.Context().Done()
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	conn := newTestClient(t, dial.Config{URL: s.URL, HTTP2: true, TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}).NewConn()
	defer conn.Close()
	go func() {
		defer close(closed)
		<-hanging
		s.CloseClientConnections()
		s.Close()
	}()
	_, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
	if got := failure.Classify(err); err == nil || got != measure.Reset {
		t.Errorf("%v, of class %v, want reset", err, got)
	}
	<-closed
	_, err = conn.Do(context.Background(), scripted.Get, scripted.Far())
	if got := failure.Classify(err); err == nil || got != measure.Refused {
		t.Errorf("and then %v, of class %v, want refused", err, got)
	}
}

// A request is sent exactly once: net/http's pool would send it again if the connection
// was closed while it idled.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int64
	count := func(next func(*net.TCPConn, *bufio.Reader)) func(*net.TCPConn, *bufio.Reader) {
		return func(c *net.TCPConn, r *bufio.Reader) {
			for range 2 {
				if _, err := http.ReadRequest(r); err != nil {
					return
				}
				if requests.Add(1) == 2 {
					break // closes without an answer
				}
				_, _ = io.WriteString(c, scripted.Empty)
			}
			next(c, r)
		}
	}
	nothing := func(*net.TCPConn, *bufio.Reader) {}
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, count(nothing), scripted.Stay(scripted.Answer(scripted.Empty)))})
	conn := d.NewConn()
	defer conn.Close()
	if _, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil {
		t.Fatal(err)
	}
	got, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
	if failure.Classify(err) != measure.Reset || requests.Load() != 2 || d.Opened() != 1 || !got.Reused {
		t.Errorf("%v after %d requests on %d connections, reused: %v; want a reset and no third request", err, requests.Load(), d.Opened(), got.Reused)
	}
	if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || d.Opened() != 2 || got.Reused {
		t.Errorf("%v on connection %d, reused: %v; want success on another", err, d.Opened(), got.Reused)
	}
}

// A pool of net/http has another connection for a request whose first one ended without a response: nothing goes over it,
// however late net/http's goroutines are.
func TestAPoolSendsNothingTwice(t *testing.T) {
	const pairs = 300
	var requests atomic.Int64
	each := func(c *net.TCPConn, r *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			if requests.Add(1)%2 == 0 {
				return // without an answer
			}
			_, _ = io.WriteString(c, scripted.Empty)
		}
	}
	url := scripted.Serve(t, slices.Repeat([]scripted.Script{each}, 3*pairs)...)
	p := NewPool(scripted.NewDialer(t, dial.Config{URL: url}), "", true)
	for i := range pairs {
		for _, fails := range []bool{false, true} {
			var ended error
			r, err := http.NewRequest(http.MethodGet, p.URL(), http.NoBody)
			must.Succeed(t, err)
			response, err := p.Send(t.Context(), scripted.Far(), r, scripted.Get, func(_ transport.Response, err error) { ended = err })
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
			if (ended != nil) != fails {
				t.Fatalf("pair %d: %v, want an error: %t", i, ended, fails)
			}
		}
	}
	if n := requests.Load(); n != 2*pairs {
		t.Errorf("%d requests came, want %d", n, 2*pairs)
	}
}

func TestPolicyHoldsForTheTarget(t *testing.T) {
	d, err := dial.NewDialer(dial.Config{URL: "http://127.0.0.1:1"})
	must.Succeed(t, err)
	_, err = NewClient(d, "").NewConn().Do(context.Background(), scripted.Get, scripted.Far())
	var refused *address.RefusedError
	if !errors.As(err, &refused) || failure.Classify(err) != measure.Other {
		t.Errorf("%v, of class %v; want it refused by the policy", err, failure.Classify(err))
	}
}
