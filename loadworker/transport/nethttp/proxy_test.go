package nethttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	return host
}

// shop returns the URL of a target under a name that only its proxy knows.
func shop(url string) string {
	scheme, host, _ := strings.Cut(url, "://")
	_, port, _ := net.SplitHostPort(host)
	return scheme + "://" + scripted.Shop + ":" + port
}

// unknown is the worker's lookup, which does not know a target behind a proxy.
func unknown(_ context.Context, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func newProxied(t *testing.T, c dial.Config, url string) *Client {
	t.Helper()
	c.Lookup = unknown
	client, err := NewProxyClient(scripted.NewDialer(t, c), "agent", url)
	must.Succeed(t, err)
	return client
}

// Each request reaches the target once, through the proxy, whose connections are kept.
func TestRequestsPassTheProxy(t *testing.T) {
	for name, config := range scripted.Protocols(t, http.HandlerFunc(echo)) {
		if name == "HTTP/2" {
			continue // not through a proxy
		}
		t.Run(name, func(t *testing.T) {
			f := scripted.NewProxy(t, config.URL)
			config.URL = shop(config.URL)
			host := hostOf(config.URL)
			if config.TLS != nil {
				config.TLS = config.TLS.Clone()
				config.TLS.ServerName = "example.com" // that of the test's certificate
			}
			n := newProxied(t, config, f.URL)
			conn := n.NewConn()
			defer conn.Close()
			protocol, _, _ := strings.Cut(name, " over")
			want := strings.Replace(protocol, "/2", "/2.0", 1) + " POST /a%2Fb?q=1 " + host + " 1|[]|[agent]|4|body"
			request := &transport.Request{
				Method: "POST", Path: []byte("/a%2Fb?q=1"), Body: []byte("body"), Keep: 1 << 10,
				Headers: []transport.Header{{Name: "X-A", Value: []byte("1")}},
			}
			for range 3 {
				got, err := conn.Do(context.Background(), request, scripted.Far())
				if err != nil || string(got.Body) != want {
					t.Errorf("%q, %v; want %q", got.Body, err, want)
				}
			}
			// Mostly one: net/http closes a connection of HTTP/1.1 if it was not scheduled
			// for 50 ms after it had written a request.
			seen := slices.Repeat([]string{"CONNECT " + host}, int(n.Opened()))
			if config.TLS == nil {
				seen = slices.Repeat([]string{"POST http://" + host + "/a%2Fb?q=1"}, 3)
			}
			same.As(t, "the proxy was asked for", seen, f.Requests())
			if n.Opened() < 1 || n.Opened() > 2 || n.Name() != "net/http "+protocol+" by proxy" {
				t.Errorf("%d connections of %q for 3 requests; want one", n.Opened(), n.Name())
			}
		})
	}
}

// A proxy that took its target from the Host header could reach any target. The script
// reads the bytes: a server of net/http sees the host of the absolute form only.
func TestProxyIsSentOneHost(t *testing.T) {
	heads := make(chan string, 1)
	proxy := scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
		head, line := "", "?"
		for len(line) > 0 {
			bytes, _, err := r.ReadLine()
			if err != nil {
				return
			}
			line = string(bytes)
			head += line + "\n"
		}
		heads <- head
		_, _ = io.WriteString(c, scripted.Empty)
	})
	_, err := newProxied(t, dial.Config{URL: "http://shop.test"}, proxy).NewConn().
		Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("//x"), Host: []byte("169.254.169.254")}, scripted.Far())
	must.Succeed(t, err)
	head := <-heads
	if !strings.HasPrefix(head, "GET http://shop.test//x HTTP/1.1\n") || !strings.Contains(head, "\nHost: shop.test\n") || strings.Contains(head, "169.254") {
		t.Errorf("the proxy is sent\n%swant shop.test in both places", head)
	}
}

func TestOneShotThroughAProxy(t *testing.T) {
	config := scripted.Protocols(t, http.HandlerFunc(echo))["HTTP/1.1 over TLS"]
	f := scripted.NewProxy(t, config.URL)
	config.URL = shop(config.URL)
	config.TLS.ServerName = "example.com"
	n := newProxied(t, config, f.URL)
	conn := transport.NewOneShot(n).NewConn()
	for range 2 {
		if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 {
			t.Errorf("%d, %v; want 200", got.Status, err)
		}
	}
	if got := f.Requests(); len(got) != 2 || n.Opened() != 2 {
		t.Errorf("asked for %q on %d connections, want a tunnel for each of 2 requests", got, n.Opened())
	}
}

// plainly makes a tunnel to a server that does not speak TLS.
func plainly(c *net.TCPConn, r *bufio.Reader) {
	scripted.Answer("HTTP/1.1 200 OK\r\n\r\n")(c, r)
	if _, err := r.ReadByte(); err == nil {
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
	}
}

func TestTunnelFailureNamesTheCause(t *testing.T) {
	tests := map[string]struct {
		serve   func(*net.TCPConn, *bufio.Reader)
		message string
		want    measure.Outcome
	}{
		"no way to the target": {scripted.Stay(scripted.Answer("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno")), "CONNECT: the proxy answered 502 Bad Gateway", measure.Other},
		"credentials wanted":   {scripted.Stay(scripted.Answer("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")), "CONNECT: the proxy answered 407 Proxy Authentication Required", measure.Other},
		"closed":               {scripted.Answer(""), "CONNECT: unexpected EOF", measure.Reset},
		"silence":              {scripted.Stay(scripted.Answer("")), "CONNECT: context deadline exceeded", measure.Timeout},
		"words too early":      {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\n\r\nSSH-2.0")), "CONNECT: the proxy sent something before the target can have", measure.Other},
		"no TLS behind it":     {scripted.Stay(plainly), "", measure.TLS},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := newProxied(t, dial.Config{URL: "https://shop.test"}, scripted.Serve(t, tt.serve)).NewConn()
			deadline := scripted.Far()
			if tt.want == measure.Timeout {
				deadline = time.Now().Add(3 * time.Second) // the proxy is reached before that
			}
			_, err := conn.Do(context.Background(), scripted.Get, deadline)
			if err == nil || failure.Classify(err) != tt.want {
				t.Fatalf("%v, of class %v, want %v", err, failure.Classify(err), tt.want)
			}
			if tt.message != "" && err.Error() != tt.message {
				t.Errorf("%q, want %q", err, tt.message)
			}
		})
	}
}

// An interrupted request does not wait for a proxy.
func TestTunnelIsInterrupted(t *testing.T) {
	asked := make(chan struct{})
	conn := newProxied(t, dial.Config{URL: "https://shop.test"}, scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		close(asked)
		_, _ = io.Copy(io.Discard, c)
	})).NewConn()
	go func() {
		<-asked
		conn.Interrupt()
	}()
	if _, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
		t.Errorf("Do: %v, want that it was interrupted", err)
	}
}

// The policy is checked for the proxy. The proxy resolves the target.
func TestPolicyHoldsForProxies(t *testing.T) {
	dialer := func(url string) *dial.Dialer {
		d, err := dial.NewDialer(dial.Config{URL: url, Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}})
		must.Succeed(t, err)
		return d
	}
	var refused *address.RefusedError
	for _, target := range []string{"http://shop.test", "https://shop.test"} {
		p, err := NewProxyClient(dialer(target), "", "http://proxy.test")
		must.Succeed(t, err)
		if err := p.Probe(context.Background()); !errors.As(err, &refused) {
			t.Errorf("%s by a proxy that is the metadata service: %v, want a refusal", target, err)
		}
	}
}

func TestNewProxyClientRefuses(t *testing.T) {
	tests := map[string]struct {
		target dial.Config
		proxy  string
		want   string
	}{
		"https":               {dial.Config{URL: "http://shop.test"}, "https://proxy.test", "proxy url: must be http://; https goes through it by CONNECT"},
		"another scheme":      {dial.Config{URL: "http://shop.test"}, "socks5://proxy.test", "scheme must be http or https"},
		"a password":          {dial.Config{URL: "http://shop.test"}, "http://me:secret@proxy.test", "me:xxxxx@proxy.test"},
		"HTTP/2 without TLS":  {dial.Config{URL: "http://shop.test", HTTP2: true}, "http://proxy.test", "proxy: HTTP/2 goes through a proxy over https only"},
		"no host":             {dial.Config{URL: "http://shop.test"}, "http://", "no host"},
		"a port out of range": {dial.Config{URL: "http://shop.test"}, "http://proxy.test:0", "port must be between 1 and 65535"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewProxyClient(scripted.NewDialer(t, tt.target), "", tt.proxy)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewProxyClient = %v, want …%s…", err, tt.want)
			}
		})
	}
}
