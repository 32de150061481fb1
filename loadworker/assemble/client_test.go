package assemble

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// authority signs certificates; only clients that name it trust it.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string // of the certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	must.Succeed(t, err)
	a.certificate, err = x509.ParseCertificate(der)
	must.Succeed(t, err)
	a.file = file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return a
}

// sign makes a certificate for a name, and the files of it and its key.
func (a *authority) sign(t *testing.T, name string) (pair tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	must.Succeed(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must.Succeed(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	must.Succeed(t, err)
	return pair, file(t, string(certPEM)), file(t, string(keyPEM))
}

// newSecure is a server for shop.test that answers with the client's name.
func newSecure(t *testing.T, a *authority, change func(*httptest.Server)) string {
	t.Helper()
	pair, _, _ := a.sign(t, "shop.test")
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = io.WriteString(w, r.Proto+" "+r.TLS.ServerName+" "+name)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(s)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func TestSecureTargets(t *testing.T) {
	known, other := newAuthority(t), newAuthority(t)
	_, certFile, keyFile := known.sign(t, "client")
	_, otherCert, otherKey := other.sign(t, "client")
	// With TLS 1.3 a client learns only after the handshake that it is refused, or
	// meets a reset if it writes sooner than it reads.
	wants := func(s *httptest.Server) {
		s.TLS.ClientAuth, s.TLS.MaxVersion = tls.RequireAndVerifyClientCert, tls.VersionTLS12
	}
	without := func(s *httptest.Server) { s.EnableHTTP2 = false }
	const h1, h2 = workerv1.Protocol_PROTOCOL_HTTP1, workerv1.Protocol_PROTOCOL_HTTP2
	tests := map[string]struct {
		tls      *workerv1.TLS
		protocol workerv1.Protocol
		server   func(*httptest.Server)
		want     string
		outcome  measure.Outcome
	}{
		"HTTP/1.1":                   {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test"}, protocol: h1, want: "HTTP/1.1 shop.test nobody"},
		"HTTP/2":                     {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test"}, protocol: h2, want: "HTTP/2.0 shop.test nobody"},
		"by a certificate, HTTP/1.1": {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test", CertFile: certFile, KeyFile: keyFile}, server: wants, protocol: h1, want: "HTTP/1.1 shop.test client"},
		"by a certificate, HTTP/2":   {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test", CertFile: certFile, KeyFile: keyFile}, server: wants, protocol: h2, want: "HTTP/2.0 shop.test client"},
		"whatever it shows":          {tls: &workerv1.TLS{InsecureSkipVerify: true}, protocol: h2, want: "HTTP/2.0  nobody"},
		"an authority that is not trusted, HTTP/1.1":   {tls: &workerv1.TLS{CaFile: other.file, ServerName: "shop.test"}, protocol: h1, outcome: measure.TLS},
		"an authority that is not trusted, HTTP/2":     {tls: &workerv1.TLS{CaFile: other.file, ServerName: "shop.test"}, protocol: h2, outcome: measure.TLS},
		"nor by the system":                            {protocol: h2, outcome: measure.TLS},
		"another name":                                 {tls: &workerv1.TLS{CaFile: known.file, ServerName: "other.test"}, protocol: h2, outcome: measure.TLS},
		"no certificate where one is wanted, HTTP/1.1": {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test"}, server: wants, protocol: h1, outcome: measure.TLS},
		"no certificate where one is wanted, HTTP/2":   {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test"}, server: wants, protocol: h2, outcome: measure.TLS},
		"one that is not trusted":                      {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test", CertFile: otherCert, KeyFile: otherKey}, server: wants, protocol: h2, outcome: measure.TLS},
		"no HTTP/2 there":                              {tls: &workerv1.TLS{CaFile: known.file, ServerName: "shop.test"}, server: without, protocol: h2, outcome: measure.TLS},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client, err := newClient(&workerv1.Target{
				Url: newSecure(t, known, tt.server), Protocol: tt.protocol, Tls: tt.tls, AllowSpecialAddresses: true,
			}, Config{Version: "test", policy: permissive()})
			must.Succeed(t, err)
			line := client.NewConn()
			defer line.Close()
			got, err := line.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/"), Keep: 100}, time.Now().Add(await.Patience))
			switch {
			case tt.want != "" && (err != nil || string(got.Body) != tt.want):
				t.Errorf("%q, %v; want %q", got.Body, err, tt.want)
			case tt.want == "" && (err == nil || failure.Classify(err) != tt.outcome):
				t.Errorf("%v, of class %v, want %v", err, failure.Classify(err), tt.outcome)
			}
		})
	}
}

func TestClientsByTarget(t *testing.T) {
	const h2 = workerv1.Protocol_PROTOCOL_HTTP2
	tests := map[string]*workerv1.Target{
		"http1":                      {Url: "http://x"},
		"http1, no keep-alive":       {Url: "http://x", DisableKeepAlive: true},
		"http2":                      {Url: "http://x", Protocol: h2},
		"net/http HTTP/1.1 by proxy": {Url: "http://x", ProxyUrl: "http://y"},
		"net/http HTTP/2 by proxy, no keep-alive": {
			Url: "https://x", Protocol: h2, ProxyUrl: "http://y", DisableKeepAlive: true,
		},
		"http2, no keep-alive": {Url: "https://x", Protocol: h2, DisableKeepAlive: true},
	}
	for want, target := range tests {
		client, err := newClient(target, Config{})
		must.Succeed(t, err)
		if got := client.Name(); got != want {
			t.Errorf("%v is spoken to by %q, want %q", target, got, want)
		}
	}
}

func TestLoadTLSRefuses(t *testing.T) {
	a := newAuthority(t)
	_, certFile, keyFile := a.sign(t, "client")
	_, otherCert, _ := a.sign(t, "client")
	tests := map[string]struct {
		tls  *workerv1.TLS
		want string
	}{
		"a CA that is not there":    {&workerv1.TLS{CaFile: "/does/not/exist"}, "target.tls: ca: open /does/not/exist: no such file"},
		"a CA that is none":         {&workerv1.TLS{CaFile: file(t, "none")}, "has no certificate in PEM"},
		"a certificate without key": {&workerv1.TLS{CertFile: certFile}, "target.tls: clientCertificate: open : no such file"},
		"the key of another":        {&workerv1.TLS{CertFile: otherCert, KeyFile: keyFile}, "target.tls: clientCertificate: tls: private key does not match"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(&workerv1.Target{Url: "https://x", Tls: tt.tls}, Config{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("newClient = %v, want …%s…", err, tt.want)
			}
		})
	}
}
