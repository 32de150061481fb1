package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// sender sends requests to one target by the code under test.
type sender interface {
	send(r *transport.Request, timeout time.Duration) (transport.Response, error)
	// open opens the connection, so that the timeout covers the request alone.
	open() error
	isOpen() bool
	// awaitClose waits until the other side has closed the connection, without
	// checking it by the code under test.
	awaitClose(t *testing.T)
}

// way is a way to send.
type way struct {
	secured bool
	from    func(*Client) sender
	// isLoop says that it is a loop, which its own goroutine interrupts.
	isLoop bool
}

// client returns a client of the server at a URL, over TLS if that is the way.
func (w way) client(t *testing.T, url string) *Client {
	t.Helper()
	if w.secured {
		return newTestClient(t, scripted.Secure(t, url))
	}
	return newTestClient(t, dial.Config{URL: url})
}

// senders are the ways to send.
func senders(t *testing.T) map[string]way {
	conn := func(d *Client) sender {
		c := d.newConn()
		t.Cleanup(c.Close)
		return connSender{c}
	}
	loop := func(d *Client) sender { return newLoopSender(t, d) }
	return map[string]way{
		"conn": {from: conn}, "conn over TLS": {secured: true, from: conn}, "loop": {from: loop, isLoop: true}, "loop over TLS": {secured: true, from: loop, isLoop: true},
	}
}

type connSender struct{ *Conn }

func (s connSender) isOpen() bool { return s.IsOpen() }

func (s connSender) open() error { return s.Open(context.Background(), scripted.Far()) }

func (s connSender) awaitClose(t *testing.T) {
	t.Helper()
	scripted.AwaitEvent(t, s.net, unix.POLLRDHUP)
	s.used = time.Now().Add(time.Hour) // it is not checked before the next request
}

func (s connSender) send(r *transport.Request, timeout time.Duration) (transport.Response, error) {
	return s.Do(context.Background(), r, time.Now().Add(timeout))
}

// script is what a server does with a connection, which is closed after that.
type script func(c *net.TCPConn, r *bufio.Reader)

// says writes a text in pieces, with time for the client to read each.
func says(pieces ...string) script {
	return func(c *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_ = c.SetNoDelay(true)
		for i, piece := range pieces {
			if i > 0 {
				<-time.After(200 * time.Microsecond)
			}
			_, _ = io.WriteString(c, piece)
		}
	}
}

// resets resets the connection after a script.
func resets(s script) script {
	return func(c *net.TCPConn, r *bufio.Reader) {
		s(c, r)
		_ = c.SetLinger(0)
	}
}

func TestSendReadsWholeResponses(t *testing.T) {
	const body = "Wikipedia in chunks."
	const inChunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n6;x=y\r\npedia \r\nA\r\nin chunks.\r\n0\r\nTrailer: yes\r\n\r\n"
	tests := map[string]struct {
		script script
		method string
		want   transport.Response
		class  measure.Outcome
		closed bool
	}{
		"in one piece":                      {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour")), want: transport.Response{Status: 200, Size: 4, Body: []byte("four")}},
		"byte by byte":                      {script: scripted.Stay(says(strings.Split(inChunks, "")...)), want: transport.Response{Status: 200, Size: int64(len(body)), Body: []byte(body)}},
		"the body later":                    {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "fo", "ur")), want: transport.Response{Status: 200, Size: 4, Body: []byte("four")}},
		"100 first":                         {script: scripted.Stay(says("HTTP/1.1 100 Continue\r\n\r\n", scripted.Empty)), want: transport.Response{Status: 200}},
		"HEAD with a length":                {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n")), method: "HEAD", want: transport.Response{Status: 200}},
		"until it closes":                   {script: says("HTTP/1.1 200 OK\r\n\r\n", "all ", "of it"), want: transport.Response{Status: 200, Size: 9, Body: []byte("all of it")}, closed: true},
		"until it closes, at once":          {script: says("HTTP/1.1 200 OK\r\n\r\nall"), want: transport.Response{Status: 200, Size: 3, Body: []byte("all")}, closed: true},
		"Connection: close":                 {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")), want: transport.Response{Status: 200}, closed: true},
		"HTTP/1.0":                          {script: scripted.Stay(says("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")), want: transport.Response{Status: 200}, closed: true},
		"another protocol":                  {script: scripted.Stay(says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")), want: transport.Response{Status: 101}, closed: true},
		"another response that is too much": {script: scripted.Stay(says(scripted.Empty + scripted.Empty)), want: transport.Response{Status: 200}, closed: true},
		"garbage after it":                  {script: scripted.Stay(says(scripted.Empty + "x")), want: transport.Response{Status: 200}, closed: true},
		"nothing":                           {script: says(), class: measure.Reset, closed: true},
		"half a header":                     {script: says("HTTP/1.1 200 OK\r\nContent-"), class: measure.Reset, closed: true},
		"half a body":                       {script: says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "fo"), class: measure.Reset, closed: true},
		"half a chunk":                      {script: says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfo"), class: measure.Reset, closed: true},
		"a reset":                           {script: resets(says()), class: measure.Reset, closed: true},
		"a reset in the body":               {script: resets(says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfo")), class: measure.Reset, closed: true},
		"no HTTP":                           {script: scripted.Stay(says("SSH-2.0-OpenSSH_9.2\r\n")), class: measure.BadResponse, closed: true},
		"a header without end":              {script: scripted.Stay(says("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", transport.MaxHeader/6+1))), class: measure.BadResponse, closed: true},
		"silence":                           {script: scripted.Stay(says()), class: measure.Timeout, closed: true},
		"silence in a header":               {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nContent")), class: measure.Timeout, closed: true},
		"silence in the body":               {script: scripted.Stay(says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfo")), class: measure.Timeout, closed: true},
	}
	for kind, way := range senders(t) {
		for name, tt := range tests {
			t.Run(kind+"/"+name, func(t *testing.T) {
				d := way.client(t, scripted.Serve(t, tt.script, scripted.Stay(says(scripted.Empty))))
				s := way.from(d)
				timeout := scripted.Patience
				if tt.class == measure.Timeout {
					timeout = 100 * time.Millisecond
					must.Succeed(t, s.open())
				}
				method := "GET"
				if tt.method != "" {
					method = tt.method
				}
				began := time.Now()
				got, err := s.send(&transport.Request{Method: method, Path: []byte("/"), Keep: 100}, timeout)
				wantOutcome(t, err, tt.class, failure.Reading)
				if tt.class == measure.Timeout && time.Since(began) < timeout {
					t.Errorf("it timed out after %v, want not before %v", time.Since(began), timeout)
				}
				body := append([]byte(nil), got.Body...)
				got.Free()
				got.Body, got.Waited, got.WaitSampled, got.WaitExact, got.InOneRead = body, 0, false, false, false
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if s.isOpen() == tt.closed {
					t.Errorf("the connection is open: %v, want %v", s.isOpen(), !tt.closed)
				}
				if tt.closed { // another is opened, and the parser begins anew
					if got, err := s.send(scripted.Get, scripted.Patience); err != nil || got.Status != 200 || got.Size != 0 || d.Opened() != 2 {
						t.Errorf("the next = %+v, %v over connection %d; want an empty 200 over the second", got, err, d.Opened())
					}
				}
			})
		}
	}
}

// A response reports whether its connection had carried a request, also beside an
// error.
func TestSendReportsReuse(t *testing.T) {
	const last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	want := []struct{ reused, fails bool }{{}, {reused: true}, {reused: true}, {}, {reused: true, fails: true}, {}}
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			d := way.client(t, scripted.Serve(t, scripted.Answer(scripted.Empty, scripted.Empty, last), scripted.Answer(scripted.Empty, ""), scripted.Stay(scripted.Answer(scripted.Empty))))
			s := way.from(d)
			for i, w := range want {
				got, err := s.send(scripted.Get, scripted.Patience)
				if got.Reused != w.reused || (err != nil) != w.fails {
					t.Errorf("request %d: reused %v, %v; want %+v", i+1, got.Reused, err, w)
				}
			}
			if d.Opened() != 3 {
				t.Errorf("%d connections opened, want 3", d.Opened())
			}
		})
	}
}

func TestSendLargeBodies(t *testing.T) {
	size := int64(len(scripted.Large().Body))
	echo := func(c *net.TCPConn, r *bufio.Reader) {
		for {
			request, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			n, _ := io.Copy(io.Discard, request.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			_, _ = io.CopyN(httpChunks{c}, zeros{}, n)
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}
	}
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			d := way.client(t, scripted.Serve(t, echo))
			s := way.from(d)
			r := *scripted.Large()
			r.Keep = 3
			for i := range 2 {
				got, err := s.send(&r, scripted.Patience)
				if err != nil || got.Size != size || string(got.Body) != "\x00\x00\x00" || got.Reused != (i > 0) {
					t.Fatalf("%d bytes, of which %q is kept, reused %v, %v; want %d", got.Size, got.Body, got.Reused, err, size)
				}
			}
			if d.Opened() != 1 {
				t.Errorf("%d connections opened, want 1", d.Opened())
			}
		})
	}
}

// httpChunks writes each piece as a chunk.
type httpChunks struct{ w io.Writer }

func (c httpChunks) Write(p []byte) (int, error) {
	_, err := fmt.Fprintf(c.w, "%x\r\n%s\r\n", len(p), p)
	return len(p), err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// If it closes the connection at once, a loop reads what it has said before it writes more.
func TestALoopReadsTheAnswerBeforeAReset(t *testing.T) {
	early := func(c io.Writer, r *bufio.Reader) {
		_, _ = r.ReadString('\n')
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
	}
	for name, config := range map[string]dial.Config{
		"plain":    {URL: scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) { early(c, r) })},
		"over TLS": scripted.ServeTLS(t, func(c *tls.Conn, r *bufio.Reader) { early(c, r) }),
	} {
		t.Run(name, func(t *testing.T) {
			s := newLoopSender(t, newTestClient(t, config))
			must.Succeed(t, s.open())
			s.loop.Send(context.Background(), &s.inLoop, scripted.Large(), time.Since(s.start)+scripted.Patience)
			s.awaitClose(t)
			for !s.ended {
				s.loop.Wait(time.Since(s.start) + scripted.Patience)
			}
			if s.err != nil || s.r.Status != 413 || s.isOpen() {
				t.Errorf("%+v, %v, open %v; want 413 and no connection", s.r, s.err, s.isOpen())
			}
		})
	}
}

func TestSendToAClosedPortIsRefused(t *testing.T) {
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			// A port that was closed for this could meanwhile be another test's.
			s := way.from(way.client(t, "http://127.0.0.1:1"))
			for range 2 {
				_, err := s.send(scripted.Get, scripted.Patience)
				var e *failure.Error
				if failure.Classify(err) != measure.Refused || !errors.As(err, &e) || e.Phase != failure.Dialing {
					t.Errorf("Do = %v, want that the connection is refused", err)
				}
			}
		})
	}
}

// afterDeadline returns a sender whose first request was answered before its deadline, and
// whose server goes on with a script that knows how long that was. A busy machine takes long
// for a request: then the next deadline is twice as far.
func afterDeadline(t *testing.T, way way, next func(first time.Duration) script) sender {
	t.Helper()
	for first := 500 * time.Millisecond; first < scripted.Patience; first *= 2 {
		s := way.from(way.client(t, scripted.Serve(t, scripted.Stay(func(c *net.TCPConn, r *bufio.Reader) {
			says(scripted.Empty)(c, r)
			next(first)(c, r)
		}))))
		must.Succeed(t, s.open())
		_, err := s.send(scripted.Get, first)
		if err == nil {
			return s
		}
		if failure.Classify(err) != measure.Timeout {
			t.Fatal(err)
		}
	}
	t.Fatal("no request is answered in time")
	return nil
}

// Each request has its own deadline, whatever the deadline of the last.
func TestSendKeepsEachDeadline(t *testing.T) {
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := afterDeadline(t, way, func(first time.Duration) script {
				return func(c *net.TCPConn, r *bufio.Reader) {
					says(scripted.Empty)(c, r)
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					<-time.After(first)
					_, _ = io.WriteString(c, scripted.Empty)
				}
			})
			for _, timeout := range []time.Duration{scripted.Patience, 2 * scripted.Patience} {
				if _, err := s.send(scripted.Get, timeout); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			if _, err := s.send(scripted.Get, 30*time.Millisecond); failure.Classify(err) != measure.Timeout || time.Since(began) > scripted.Patience {
				t.Errorf("Do = %v after %v, want a timeout after 30ms", err, time.Since(began))
			}
		})
	}
}
