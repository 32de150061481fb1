package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type pair struct{ ca, cert, key []byte }

func generate(t *testing.T) pair {
	t.Helper()
	ca, cert, key, err := Generate(now)
	if err != nil {
		t.Fatal(err)
	}
	return pair{ca, cert, key}
}

// handshake is a real one, between a server with p and a client that trusts
// ca and expects name, at that time.
func handshake(t *testing.T, p pair, ca []byte, name string, at time.Time) error {
	t.Helper()
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
		"now":                    {ca: p.ca, server: workerv1.ServerName, at: now},
		"a node's clock behind":  {ca: p.ca, server: workerv1.ServerName, at: now.Add(-59 * time.Minute)},
		"its last minute":        {ca: p.ca, server: workerv1.ServerName, at: now.Add(validity - time.Minute)},
		"expired":                {ca: p.ca, server: workerv1.ServerName, at: now.Add(validity + time.Minute), want: "expired"},
		"before it was made":     {ca: p.ca, server: workerv1.ServerName, at: now.Add(-2 * time.Hour), want: "not yet valid"},
		"another name":           {ca: p.ca, server: "kubernetes.default", at: now, want: "not kubernetes.default"},
		"another operator's CA":  {ca: other.ca, server: workerv1.ServerName, at: now, want: "unknown authority"},
		"the leaf is not its CA": {ca: other.cert, server: workerv1.ServerName, at: now, want: "unknown authority"},
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
		pair pair
		at   time.Time
		want string
	}{
		"new":                   {pair: p, at: now},
		"31 days left":          {pair: p, at: now.Add(validity - 31*24*time.Hour)},
		"29 days left":          {pair: p, at: now.Add(validity - 29*24*time.Hour), want: "expired"},
		"from the future":       {pair: p, at: now.Add(-2 * time.Hour), want: "not yet valid"},
		"another CA":            {pair: pair{other.ca, p.cert, p.key}, at: now, want: "unknown authority"},
		"another key":           {pair: pair{p.ca, p.cert, other.key}, at: now, want: "load certificate and key"},
		"no CA":                 {pair: pair{nil, p.cert, p.key}, at: now, want: "load CA"},
		"no certificate":        {pair: pair{p.ca, nil, p.key}, at: now, want: "load certificate and key"},
		"the CA as certificate": {pair: pair{p.ca, p.ca, p.key}, at: now, want: "load certificate and key"},
		"nothing":               {at: now, want: "load certificate and key"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Valid(test.pair.ca, test.pair.cert, test.pair.key, test.at)
			if got := errText(err); !strings.Contains(got, test.want) || (test.want == "") != (err == nil) {
				t.Errorf("Valid: got %v, want %q", err, test.want)
			}
		})
	}
}

func TestGenerateNeverRepeats(t *testing.T) {
	a, b := generate(t), generate(t)
	if string(a.key) == string(b.key) || string(a.ca) == string(b.ca) {
		t.Error("two pairs share a key or a CA")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
