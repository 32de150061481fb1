package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

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
		do(t, c)
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
