package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Both clients, plain: what goes wrong has the same class with each.
func TestClientsAgreeOnOutcomes(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	rudely := func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		_ = c.SetLinger(0)
	}
	tests := map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		want  measure.Outcome
	}{
		"a response":                {stays(answers(ok)), measure.Success},
		"one in chunks":             {stays(answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")), measure.Success},
		"one until the end":         {answers("HTTP/1.1 200 OK\r\n\r\nok"), measure.Success},
		"an interim one first":      {stays(answers("HTTP/1.1 103 Early Hints\r\n\r\n" + ok)), measure.Success},
		"closed without a word":     {answers(""), measure.Reset},
		"reset":                     {rudely, measure.Reset},
		"closed in the header":      {answers("HTTP/1.1 200 OK\r\nContent-"), measure.Reset},
		"a body that is too short":  {answers("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok"), measure.Reset},
		"a chunk that is too short": {answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nok"), measure.Reset},
		"bytes that are no HTTP":    {stays(answers("SSH-2.0-OpenSSH_9.2\r\n\r\n")), measure.BadResponse},
		"a status that is none":     {stays(answers("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n")), measure.BadResponse},
		"a header without end":      {stays(answers("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxHeader/6+1))), measure.BadResponse},
		"a length that is none":     {stays(answers("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok")), measure.BadResponse},
		"chunks that are none":      {stays(answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")), measure.BadResponse},
		"silence":                   {stays(answers("")), measure.Timeout},
		"silence in the body":       {stays(answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok")), measure.Timeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, client := range []string{"http1", "net/http HTTP/1.1"} {
				d := newTestDialer(t, Config{URL: scripted(t, tt.serve)})
				line := Line(d.NewConn())
				if client != d.Name() {
					line = NewNetHTTP(d).NewLine()
				}
				deadline := far()
				if tt.want == measure.Timeout {
					deadline = time.Now().Add(50 * time.Millisecond)
				}
				got, err := line.Do(context.Background(), aGet, deadline)
				switch {
				case tt.want == measure.Success && (err != nil || got.Status != 200 || got.Size != 2):
					t.Errorf("%s: %+v, %v; want 200 with 2 bytes", client, got, err)
				case tt.want != measure.Success && (err == nil || Classify(err) != tt.want):
					t.Errorf("%s: %v, of class %v, want %v", client, err, Classify(err), tt.want)
				}
				line.Close()
			}
		})
	}
}

// echo says what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s %s %s %s|%v|%v|%v|%s", r.Proto, r.Method, r.RequestURI, r.Host,
		r.Header.Get("X-A"), r.Header["X-B"], r.Header["User-Agent"], r.ContentLength, body)
}

// served is one server for each way to speak to it, and what is needed for that.
func served(t testing.TB, handler http.Handler) map[string]Config {
	t.Helper()
	start := func(configure func(*httptest.Server), tls bool) *httptest.Server {
		s := httptest.NewUnstartedServer(handler)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		configure(s)
		if tls {
			s.StartTLS()
		} else {
			s.Start()
		}
		t.Cleanup(s.Close)
		return s
	}
	plain := start(func(*httptest.Server) {}, false)
	secure := start(func(s *httptest.Server) { s.EnableHTTP2 = true }, true)
	prior := start(func(s *httptest.Server) {
		s.Config.Protocols = &http.Protocols{}
		s.Config.Protocols.SetUnencryptedHTTP2(true)
	}, false)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	trusting := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return map[string]Config{
		"HTTP/1.1":          {URL: plain.URL},
		"HTTP/1.1 over TLS": {URL: secure.URL, TLS: trusting},
		"HTTP/2 over TLS":   {URL: secure.URL, TLS: trusting, HTTP2: true},
		"HTTP/2":            {URL: prior.URL, HTTP2: true},
	}
}

func TestNetHTTPSendsWhatItIsGiven(t *testing.T) {
	for name, config := range served(t, http.HandlerFunc(echo)) {
		t.Run(name, func(t *testing.T) {
			config.Agent = "agent"
			d := newTestDialer(t, config)
			n := NewNetHTTP(d)
			line := n.NewLine()
			defer line.Close()
			tests := map[string]struct {
				request Request
				want    string
			}{
				"GET":             {Request{Method: "GET", Path: []byte("/a%2Fb?q=%20"), Headers: []Header{{Name: "X-A", Value: []byte("1")}, {Name: "X-B", Value: []byte("2")}, {Name: "X-B", Value: []byte("3")}}}, "GET /a%2Fb?q=%20 " + d.host + " 1|[2 3]|[agent]|0|"},
				"POST":            {Request{Method: "POST", Path: []byte("/"), Body: []byte("body"), Host: []byte("other.example")}, "POST / other.example |[]|[agent]|4|body"},
				"POST of nothing": {Request{Method: "POST", Path: []byte("/")}, "POST / " + d.host + " |[]|[agent]|0|"},
				"POST of a byte":  {Request{Method: "POST", Path: []byte("/"), Body: []byte("b")}, "POST / " + d.host + " |[]|[agent]|1|b"},
				"two agents":      {Request{Method: "GET", Path: []byte("/"), Headers: []Header{{Name: "User-Agent", Value: []byte("mine")}, {Name: "User-Agent", Value: []byte("too many")}}}, "GET / " + d.host + " |[]|[mine]|0|"},
				"another agent":   {Request{Method: "DELETE", Path: []byte("/"), Headers: []Header{{Name: "User-Agent", Value: []byte("mine")}}}, "DELETE / " + d.host + " |[]|[mine]|0|"},
			}
			for name, tt := range tests {
				tt.request.Keep = 1 << 10
				before := d.Opened()
				got, err := line.Do(context.Background(), &tt.request, far())
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
			// One of HTTP/1.1 net/http closes if it was not let run for 50 ms after it
			// had written a request.
			most := len(tests) - 1
			if config.HTTP2 {
				most = 1
			}
			if n := int(d.Opened()); n < 1 || n > most || config.HTTP2 && !line.Alive() {
				t.Errorf("%d connections opened for %d requests, alive: %v; want one that is kept", n, len(tests), line.Alive())
			}
			if want, _, _ := strings.Cut("net/http "+name, " over"); n.Name() != want {
				t.Errorf("named %q, want %q", n.Name(), want)
			}
		})
	}
}

func TestNetHTTPReadsBodies(t *testing.T) {
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
	for name, config := range served(t, handler) {
		t.Run(name, func(t *testing.T) {
			line := NewNetHTTP(newTestDialer(t, config)).NewLine()
			defer line.Close()
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
				got, err := line.Do(context.Background(), &Request{Method: tt.method, Path: []byte(tt.path), Keep: tt.keep}, far())
				if err != nil || got.Status != tt.status || got.Size != tt.size || len(got.Body) != tt.kept {
					t.Errorf("%s: %d of %d bytes, %d kept, %v; want %d, %d, %d", name, got.Status, got.Size, len(got.Body), err, tt.status, tt.size, tt.kept)
				}
			}
		})
	}
}

// In HTTP/2 a stream may fail while the connection goes on.
func TestNetHTTPStreams(t *testing.T) {
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
	for name, config := range served(t, handler) {
		if !config.HTTP2 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newTestDialer(t, config)
			line := NewNetHTTP(d).NewLine()
			defer line.Close()
			_, err := line.Do(context.Background(), &Request{Method: "GET", Path: []byte("/abort")}, far())
			if got := Classify(err); got != measure.Reset {
				t.Errorf("a stream that was reset: %v, of class %v", err, got)
			}
			_, err = line.Do(context.Background(), &Request{Method: "GET", Path: []byte("/hang")}, time.Now().Add(50*time.Millisecond))
			if got := Classify(err); got != measure.Timeout {
				t.Errorf("silence: %v, of class %v", err, got)
			}
			if got, err := line.Do(context.Background(), aGet, far()); err != nil || got.Status != 200 || d.Opened() != 1 {
				t.Errorf("then %d, %v on connection %d; want 200 on the first", got.Status, err, d.Opened())
			}
		})
	}
}

// A server that shuts down says GOAWAY: what it has not answered was reset.
func TestNetHTTPShutdown(t *testing.T) {
	hanging, closed := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(hanging)
		<-r.Context().Done()
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	line := NewNetHTTP(newTestDialer(t, Config{URL: s.URL, HTTP2: true, TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}})).NewLine()
	defer line.Close()
	go func() {
		defer close(closed)
		<-hanging
		s.CloseClientConnections()
		s.Close()
	}()
	_, err := line.Do(context.Background(), aGet, far())
	if got := Classify(err); err == nil || got != measure.Reset {
		t.Errorf("%v, of class %v, want reset", err, got)
	}
	<-closed
	_, err = line.Do(context.Background(), aGet, far())
	if got := Classify(err); err == nil || got != measure.Refused {
		t.Errorf("and then %v, of class %v, want refused", err, got)
	}
}

// A request is sent exactly once: net/http's pool would send one again whose
// connection was closed while it idled.
func TestNetHTTPNeverReplays(t *testing.T) {
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
				_, _ = io.WriteString(c, empty)
			}
			next(c, r)
		}
	}
	nothing := func(*net.TCPConn, *bufio.Reader) {}
	d := newTestDialer(t, Config{URL: scripted(t, count(nothing), stays(answers(empty)))})
	line := NewNetHTTP(d).NewLine()
	defer line.Close()
	if _, err := line.Do(context.Background(), aGet, far()); err != nil {
		t.Fatal(err)
	}
	got, err := line.Do(context.Background(), aGet, far())
	if Classify(err) != measure.Reset || requests.Load() != 2 || d.Opened() != 1 || !got.Reused {
		t.Errorf("%v after %d requests on %d connections, reused: %v; want a reset and no third request", err, requests.Load(), d.Opened(), got.Reused)
	}
	if got, err := line.Do(context.Background(), aGet, far()); err != nil || d.Opened() != 2 || got.Reused {
		t.Errorf("%v on connection %d, reused: %v; want success on another", err, d.Opened(), got.Reused)
	}
}

func TestNetHTTPRefusesAddresses(t *testing.T) {
	d, err := NewDialer(Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewNetHTTP(d).NewLine().Do(context.Background(), aGet, far())
	var refused *PolicyError
	if !errors.As(err, &refused) || Classify(err) != measure.Other {
		t.Errorf("%v, of class %v; want it refused by the policy", err, Classify(err))
	}
}
