package transport

import (
	"bufio"
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
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

func newTestDialer(t *testing.T, c Config) *Dialer {
	t.Helper()
	c.Policy.AllowSpecial = true
	d, err := NewDialer(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var aGet = &Request{Method: "GET", Path: []byte("/")}

// far is a deadline that no test reaches.
func far() time.Time { return time.Now().Add(30 * time.Second) }

// scripted accepts connections and hands each to the next of the handlers.
func scripted(t *testing.T, handlers ...func(*net.TCPConn, *bufio.Reader)) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for _, handle := range handlers {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn.(*net.TCPConn), bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + lis.Addr().String()
}

// answers reads a request and writes a text, as often as there are texts.
func answers(texts ...string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		for _, text := range texts {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, text)
		}
	}
}

// stays keeps the connection open after that until the client closes it.
func stays(handle func(*net.TCPConn, *bufio.Reader)) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		handle(c, r)
		_, _ = io.Copy(io.Discard, r)
	}
}

const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

func do(t *testing.T, c *Conn, want int) {
	t.Helper()
	if got, err := c.Do(context.Background(), aGet, far()); err != nil || got != want {
		t.Errorf("Do = %d, %v; want %d", got, err, want)
	}
}

func TestConnIsKept(t *testing.T) {
	d := newTestDialer(t, Config{URL: scripted(t, stays(answers(empty, empty, empty)))})
	c := d.NewConn()
	defer c.Close()
	for range 3 {
		do(t, c, 200)
	}
	if n := d.Opened(); n != 1 {
		t.Errorf("%d connections opened, want 1", n)
	}
}

func TestConnIsOpenedAgain(t *testing.T) {
	tests := map[string]string{
		"after Connection: close": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"after HTTP/1.0":          "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"after bytes too many":    empty + "HTTP/1.1 500 not asked for\r\n\r\n",
		"after 101":               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			d := newTestDialer(t, Config{URL: scripted(t, stays(answers(text)), stays(answers(empty)))})
			c := d.NewConn()
			defer c.Close()
			if _, err := c.Do(context.Background(), aGet, far()); err != nil {
				t.Fatal(err)
			}
			if c.IsOpen() {
				t.Error("the connection is open, want closed")
			}
			do(t, c, 200)
			if n := d.Opened(); n != 2 {
				t.Errorf("%d connections opened, want 2", n)
			}
		})
	}
}

// A server closes a connection that idles. That is no failure of a request, and
// the request is sent once: on another connection.
func TestConnClosedWhileIdleIsNoFailure(t *testing.T) {
	closed := make(chan struct{})
	d := newTestDialer(t, Config{URL: scripted(t,
		func(c *net.TCPConn, r *bufio.Reader) {
			answers(empty)(c, r)
			_ = c.Close()
			close(closed)
		},
		stays(answers(empty)),
	)})
	c := d.NewConn()
	defer c.Close()
	do(t, c, 200)
	<-closed
	for c.Alive() { // until the news has come
		<-time.After(time.Millisecond)
	}
	c.used = time.Time{} // it idled for long
	do(t, c, 200)
}

// What fails on an open connection is an outcome, never sent again: the server
// may have acted on it.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int32
	hangUp := func(_ *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err == nil {
			requests.Add(1)
		}
	}
	d := newTestDialer(t, Config{URL: scripted(t, hangUp, hangUp, hangUp)})
	c := d.NewConn()
	_, err := c.Do(context.Background(), aGet, far())
	if got := Classify(err); got != measure.Reset {
		t.Errorf("Do = %v, of class %v, want reset", err, got)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the server saw %d requests, want 1", n)
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		answer string
		want   error
	}{
		"a header without end":          {answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), want: errHeaderTooLarge},
		"interim responses without end": {answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50_000), want: errHeaderTooLarge},
		"a status below 100":            {answer: "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", want: errStatus},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestDialer(t, Config{URL: scripted(t, stays(answers(tt.answer)))}).NewConn()
			defer c.Close()
			_, err := c.Do(context.Background(), aGet, far())
			if !errors.Is(err, tt.want) || Classify(err) != measure.BadResponse {
				t.Errorf("Do = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestLargeBodiesAreReadThrough(t *testing.T) {
	const size = 20 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
	}))
	defer server.Close()
	d := newTestDialer(t, Config{URL: server.URL})
	c := d.NewConn()
	defer c.Close()
	do(t, c, 200)
	do(t, c, 200)
	if n := d.Opened(); n != 1 {
		t.Errorf("%d connections opened, want 1: the body was read to its end", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestInterrupt(t *testing.T) {
	reached := make(chan struct{})
	d := newTestDialer(t, Config{URL: scripted(t,
		func(_ *net.TCPConn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			close(reached)
			_, _ = io.Copy(io.Discard, r)
		},
		stays(answers(empty)),
	)})
	c := d.NewConn()
	defer c.Close()
	go func() {
		<-reached
		c.Interrupt()
	}()
	if _, err := c.Do(context.Background(), aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do = %v, want ErrCut", err)
	}
	if _, err := c.Do(context.Background(), aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do after that = %v, want ErrCut", err)
	}
}

func TestResume(t *testing.T) {
	c := newTestDialer(t, Config{URL: scripted(t, stays(answers(empty)))}).NewConn()
	defer c.Close()
	c.Interrupt()
	c.Resume()
	do(t, c, 200)
}

func TestCutWhileDialling(t *testing.T) {
	asked := make(chan struct{})
	d := newTestDialer(t, Config{URL: "http://a.test", Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	c := d.NewConn()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		c.Interrupt()
		cancel()
	}()
	if _, err := c.Do(ctx, aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do = %v, want ErrCut", err)
	}
}

func TestTLS(t *testing.T) {
	var proto atomic.Value
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	d := newTestDialer(t, Config{URL: server.URL, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	c := d.NewConn()
	defer c.Close()
	for range 3 {
		do(t, c, 200)
		c.used = time.Time{} // looks at the connection before the next
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
	plain := scripted(t, stays(func(c *net.TCPConn, _ *bufio.Reader) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }))
	tests := map[string]struct {
		url  string
		want measure.Outcome
	}{
		"an unknown authority": {secure.URL, measure.TLS},
		"no TLS there":         {strings.Replace(plain, "http:", "https:", 1), measure.TLS},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestDialer(t, Config{URL: tt.url}).NewConn()
			_, err := c.Do(context.Background(), aGet, far())
			if got := Classify(err); err == nil || got != tt.want {
				t.Errorf("Do = %v, of class %v, want %v", err, got, tt.want)
			}
		})
	}
}

func TestNewDialerRefuses(t *testing.T) {
	tests := map[string]string{
		"":                       `target url "": no host`,
		"shop":                   `target url "shop": no host`,
		"ftp://shop":             `target url "ftp://shop": scheme must be http or https`,
		"http://shop/path":       `target url "http://shop/path": must be scheme and host only; put the path into requests`,
		"http://shop?a=b":        `target url "http://shop?a=b": must be scheme and host only; put the path into requests`,
		"http://u:secret@shop":   `target url "http://u:xxxxx@shop": must be scheme and host only; put the path into requests`,
		"http://shop:0":          `target url "http://shop:0": port must be between 1 and 65535`,
		"http://shop:65536":      `target url "http://shop:65536": port must be between 1 and 65535`,
		"http://[::1%25eth0]:80": "",
		"http://shop/":           "",
		"https://shop:8443":      "",
	}
	for url, want := range tests {
		t.Run(url, func(t *testing.T) {
			got := ""
			if _, err := NewDialer(Config{URL: url}); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("NewDialer(%q) = %q, want %q", url, got, want)
			}
		})
	}
}

func TestDialerTakesTheAddressesInTurn(t *testing.T) {
	lis, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lis.Close() }()
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}, nil
	}
	_, port, err := net.SplitHostPort(lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d := newTestDialer(t, Config{URL: "http://a.test:" + port, Lookup: lookup})
	seen := map[string]int{}
	for range 4 {
		if err := d.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn, err := lis.Accept()
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
		seen[host]++
		_ = conn.Close()
	}
	if seen["127.0.0.1"] != 2 || seen["127.0.0.2"] != 2 {
		t.Errorf("connections by address: %v, want 2 each", seen)
	}
	if d.Opened() != 0 {
		t.Errorf("%d connections opened for requests, want none: they were probes", d.Opened())
	}
}

func TestDialerTriesTheOtherAddresses(t *testing.T) {
	url := scripted(t, stays(answers(empty)), stays(answers(empty)))
	port := url[strings.LastIndex(url, ":"):]
	d := newTestDialer(t, Config{URL: "http://a.test" + port, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.9.9.9"), netip.MustParseAddr("127.0.0.1")}, nil
	}})
	for range 2 {
		if err := d.Probe(t.Context()); err != nil {
			t.Errorf("Probe = %v, want that the second address is tried", err)
		}
	}
}

func TestPolicyHoldsForWhatANameResolvesTo(t *testing.T) {
	d, err := NewDialer(Config{URL: "http://innocent.test", Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var refused *PolicyError
	if err := d.Probe(t.Context()); !errors.As(err, &refused) {
		t.Errorf("Probe = %v, want a PolicyError", err)
	}
	_, err = d.NewConn().Do(context.Background(), aGet, far())
	if want := "address 169.254.169.254 is refused: a link-local address"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Do = %v, want …%s…", err, want)
	}
}

// FuzzRead feeds arbitrary bytes as a response: whatever they are, Do ends, and
// a status is one that a response may have.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		empty, "", "HTTP/1.1 200 OK\r\n\r\nbody", "HTTP/1.1 100 Continue\r\n\r\n" + empty,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/0.9 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := (&Dialer{}).NewConn()
		server, client := net.Pipe()
		go func() {
			_, _ = io.WriteString(server, text)
			_ = server.Close()
		}()
		c.source.net, c.net = client, client
		c.reader = bufio.NewReaderSize(&c.source, bufferSize)
		defer c.Close()
		status, _, err := c.read("GET")
		if err == nil && (status < 101 || status > 999) {
			t.Errorf("status %d", status)
		}
		if err != nil {
			if o := Classify(&Error{Reading, c.source.cause(err)}); o.Responded() {
				t.Errorf("%v is of class %v", err, o)
			}
		}
	})
}

func ExampleClassify() {
	fmt.Println(Classify(&Error{Phase: Reading, Err: io.ErrUnexpectedEOF}))
	// Output: reset
}
