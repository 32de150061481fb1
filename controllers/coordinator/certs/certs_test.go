// The race detector looks at the tests of this file, too: handshakes have two sides.

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func generate(t *testing.T) Pair { return generateAt(t, now) }

func generateAt(t *testing.T, at time.Time) Pair {
	t.Helper()
	p, err := Generate(at)
	must.Succeed(t, err)
	return p
}

// handshake is a real one, between a server with p and a client that trusts
// ca and expects name, at that time.
func handshake(t *testing.T, p Pair, ca []byte, name string, at time.Time) error {
	t.Helper()
	cert, err := tls.X509KeyPair(p.Cert, p.Key)
	must.Succeed(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer lis.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := lis.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		// What the server makes of it shows at the client.
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}).Handshake()
	}()
	conn, err := net.Dial("tcp", lis.Addr().String())
	must.Succeed(t, err)
	err = tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return at }, MinVersion: tls.VersionTLS13}).Handshake()
	conn.Close()
	<-done
	return err
}

func TestHandshake(t *testing.T) {
	p, other := generate(t), generate(t)
	for name, test := range map[string]struct {
		ca     []byte
		server string
		at     time.Time
		want   string // empty: it succeeds
	}{
		"now":                    {ca: p.CA, server: workerv1.ServerName, at: now},
		"a node's clock behind":  {ca: p.CA, server: workerv1.ServerName, at: now.Add(-59 * time.Minute)},
		"its last minute":        {ca: p.CA, server: workerv1.ServerName, at: now.Add(validity - time.Minute)},
		"expired":                {ca: p.CA, server: workerv1.ServerName, at: now.Add(validity + time.Minute), want: "expired"},
		"before it was made":     {ca: p.CA, server: workerv1.ServerName, at: now.Add(-2 * time.Hour), want: "not yet valid"},
		"another name":           {ca: p.CA, server: "kubernetes.default", at: now, want: "not kubernetes.default"},
		"another operator's CA":  {ca: other.CA, server: workerv1.ServerName, at: now, want: "unknown authority"},
		"the leaf is not its CA": {ca: other.Cert, server: workerv1.ServerName, at: now, want: "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			err := handshake(t, p, test.ca, test.server, test.at)
			if got := errText(err); !strings.Contains(got, test.want) || (test.want == "") != (err == nil) {
				t.Errorf("handshake: got %v, want %q", err, test.want)
			}
		})
	}
}

func TestValid(t *testing.T) {
	p, other := generate(t), generate(t)
	for name, test := range map[string]struct {
		pair Pair
		at   time.Time
		want string
	}{
		"new":                   {pair: p, at: now},
		"31 days left":          {pair: p, at: now.Add(validity - 31*24*time.Hour)},
		"29 days left":          {pair: p, at: now.Add(validity - 29*24*time.Hour), want: "expired"},
		"from the future":       {pair: p, at: now.Add(-2 * time.Hour), want: "not yet valid"},
		"another CA":            {pair: Pair{other.CA, p.Cert, p.Key}, at: now, want: "unknown authority"},
		"another key":           {pair: Pair{p.CA, p.Cert, other.Key}, at: now, want: "load certificate and key"},
		"no CA":                 {pair: Pair{nil, p.Cert, p.Key}, at: now, want: "load CA"},
		"no certificate":        {pair: Pair{p.CA, nil, p.Key}, at: now, want: "load certificate and key"},
		"the CA as certificate": {pair: Pair{p.CA, p.CA, p.Key}, at: now, want: "load certificate and key"},
		"nothing":               {at: now, want: "load certificate and key"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.pair.Valid(test.at)
			if got := errText(err); !strings.Contains(got, test.want) || (test.want == "") != (err == nil) {
				t.Errorf("Valid: got %v, want %q", err, test.want)
			}
		})
	}
}

func TestGenerateNeverRepeats(t *testing.T) {
	a, b := generate(t), generate(t)
	if string(a.Key) == string(b.Key) || string(a.CA) == string(b.CA) {
		t.Error("two pairs share a key or a CA")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
