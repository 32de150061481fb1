package scripted

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// NewDialer returns a dialer that may dial servers on this machine.
func NewDialer(t testing.TB, c dial.Config) *dial.Dialer {
	t.Helper()
	c.Policy = address.Policy{AllowSpecial: true}
	d, err := dial.NewDialer(c)
	must.Succeed(t, err)
	return d
}

// Get is a request that any server can answer.
var Get = &transport.Request{Method: "GET", Path: []byte("/")}

// Large returns a request for which no socket has room. A part of it that is
// missing or sent twice shows.
var Large = sync.OnceValue(func() *transport.Request {
	r := &transport.Request{Method: "POST", Path: []byte("/"), Body: make([]byte, 32<<20)}
	for i := range r.Body {
		r.Body[i] = byte(i % 251)
	}
	return r
})

// Patience is a timeout that no test reaches, and Far a deadline.
const Patience = 2 * time.Minute

// Far returns a deadline that no test reaches.
func Far() time.Time { return time.Now().Add(Patience) }

// Protocols starts a server for each protocol, and returns the configurations of
// their clients' dialers by the protocol's name.
func Protocols(t testing.TB, handler http.Handler) map[string]dial.Config {
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
	return map[string]dial.Config{
		"HTTP/1.1":          {URL: plain.URL},
		"HTTP/1.1 over TLS": {URL: secure.URL, TLS: trusting},
		"HTTP/2 over TLS":   {URL: secure.URL, TLS: trusting, HTTP2: true},
		"HTTP/2":            {URL: prior.URL, HTTP2: true},
	}
}
