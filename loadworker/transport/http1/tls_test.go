package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestTLSConnectionIsKept(t *testing.T) {
	var proto atomic.Value
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	d := newTestClient(t, dial.Config{URL: server.URL, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	c := d.newConn()
	defer c.Close()
	for range 3 {
		do(t, c)
		c.used = time.Time{} // the next request checks the connection
	}
	if n := d.Opened(); n != 1 || proto.Load() != "HTTP/1.1" {
		t.Errorf("%d connections opened, protocol %v; want 1 and HTTP/1.1", n, proto.Load())
	}
}

func TestTLSOutcomes(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := scripted.Serve(t, scripted.Stay(func(c *net.TCPConn, _ *bufio.Reader) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }))
	tests := map[string]struct {
		url  string
		want measure.Outcome
	}{
		"an unknown authority": {secure.URL, measure.TLS},
		"no TLS there":         {strings.Replace(plain, "http:", "https:", 1), measure.TLS},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, dial.Config{URL: tt.url}).newConn()
			_, err := c.Do(context.Background(), scripted.Get, scripted.Far())
			if got := failure.Classify(err); err == nil || got != tt.want {
				t.Errorf("Do = %v, of class %v, want %v", err, got, tt.want)
			}
		})
	}
}

func TestTLSReadsWholeResponses(t *testing.T) {
	const four = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
	const endless = "HTTP/1.1 200 OK\r\n\r\n"
	// says writes a text in records, then goes on in some way.
	says := func(then func(*tls.Conn), records ...string) func(*tls.Conn, *bufio.Reader) {
		return func(c *tls.Conn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			for _, record := range records {
				_, _ = io.WriteString(c, record)
			}
			then(c)
		}
	}
	stays := func(c *tls.Conn) { _, _ = io.Copy(io.Discard, c) }
	leaves := func(c *tls.Conn) { _ = c.Close() }
	breaksOff := func(*tls.Conn) {} // without close_notify, as many servers do: net/http takes it for an end, too
	resets := func(c *tls.Conn) { _ = c.NetConn().(*net.TCPConn).SetLinger(0) }
	tests := map[string]struct {
		script func(*tls.Conn, *bufio.Reader)
		size   int64 // of the response
		class  measure.Outcome
		phase  failure.Phase
		closed bool
	}{
		"in one piece":        {script: says(stays, four+"four"), size: 4},
		"byte by byte":        {script: says(stays, strings.Split(four+"four", "")...), size: 4},
		"more than a buffer":  {script: says(stays, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 100_000)), size: 100_000},
		"until it leaves":     {script: says(leaves, endless+"all"), size: 3, closed: true},
		"until it breaks off": {script: says(breaksOff, endless+"all"), size: 3, closed: true},
		"nothing":             {script: says(leaves), class: measure.Reset, phase: failure.Reading, closed: true},
		"half a body":         {script: says(leaves, four+"fo"), class: measure.Reset, phase: failure.Reading, closed: true},
		"a reset":             {script: says(resets, four+"fo"), class: measure.Reset, phase: failure.Reading, closed: true},
		"no HTTP":             {script: says(stays, "SSH-2.0-OpenSSH_9.2\r\n"), class: measure.BadResponse, phase: failure.Reading, closed: true},
		"silence":             {script: says(stays), class: measure.Timeout, phase: failure.Reading, closed: true},
		"silence in the body": {script: says(stays, four+"fo"), class: measure.Timeout, phase: failure.Reading, closed: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, scripted.ServeTLS(t, tt.script)).newConn()
			defer c.Close()
			must.Succeed(t, c.Open(context.Background(), scripted.Far()))
			deadline := scripted.Far()
			if tt.class == measure.Timeout {
				deadline = time.Now().Add(time.Second) // the request is written before that
			}
			got, err := c.Do(context.Background(), scripted.Get, deadline)
			wantOutcome(t, err, tt.class, tt.phase)
			if got.Size != tt.size || c.IsOpen() == tt.closed {
				t.Errorf("%d bytes, open: %v; want %d, %v", got.Size, c.IsOpen(), tt.size, !tt.closed)
			}
		})
	}
}

func TestTLSServerThatReadsNothing(t *testing.T) {
	gone, cut := make(chan struct{}), make(chan struct{})
	tests := map[string]struct {
		then    func(*tls.Conn) // after part of the request has arrived
		timeout time.Duration
		class   measure.Outcome
	}{
		"is given up":    {func(*tls.Conn) { <-gone }, time.Second, measure.Timeout},
		"is interrupted": {func(*tls.Conn) { close(cut); <-gone }, time.Minute, measure.Unfinished},
		"breaks it off":  {func(c *tls.Conn) { _ = c.NetConn().(*net.TCPConn).SetLinger(0) }, time.Minute, measure.Reset},
	}
	defer close(gone)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, scripted.ServeTLS(t, func(s *tls.Conn, r *bufio.Reader) {
				_, _ = r.ReadString('\n')
				tt.then(s)
			})).newConn()
			defer c.Close()
			must.Succeed(t, c.Open(context.Background(), scripted.Far()))
			if tt.class == measure.Unfinished {
				go func() { <-cut; c.Interrupt() }()
			}
			_, err := c.Do(context.Background(), scripted.Large(), time.Now().Add(tt.timeout))
			wantOutcome(t, err, tt.class, failure.Writing)
		})
	}
}

// If the socket has no room for a request, it has none for close_notify, and Close of
// TLS would block for seconds.
func TestFailureDoesNotWaitForCloseNotify(t *testing.T) {
	client, waited := scripted.Crowded(t)
	c := newTestClient(t, dial.Config{URL: "https://example.com"}).newConn()
	c.adopt(client)
	c.used = time.Now().Add(time.Hour) // it is not checked
	_, err := c.Do(context.Background(), scripted.Large(), time.Now().Add(100*time.Millisecond))
	wantOutcome(t, err, measure.Timeout, failure.Writing)
	if n := waited(); n != 1 {
		t.Errorf("%d writes timed out waiting for room, want that of the request", n)
	}
}

// wantOutcome checks the class of an error and, unless it was interrupted, its phase.
func wantOutcome(t *testing.T, err error, class measure.Outcome, phase failure.Phase) {
	t.Helper()
	var e *failure.Error
	errors.As(err, &e)
	switch {
	case class == measure.Success && err != nil,
		class != measure.Success && (err == nil || failure.Classify(err) != class),
		class != measure.Success && class != measure.Unfinished && (e == nil || e.Phase != phase):
		t.Errorf("%v, of class %v; want class %v in phase %v", err, failure.Classify(err), class, phase)
	}
}
