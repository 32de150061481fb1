package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func authority(t *testing.T, name string) Authority {
	t.Helper()
	a, err := NewAuthority(name, now)
	must.Succeed(t, err)
	return a
}

func issue(t *testing.T, a Authority, request Request) *x509.Certificate {
	t.Helper()
	pair, err := a.Issue(request, now)
	must.Succeed(t, err)
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Fatalf("certificate and key do not belong together: %v", err)
	}
	return decode(t, pair.Certificate)
}

func decode(t *testing.T, encoded []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(encoded)
	certificate, err := x509.ParseCertificate(block.Bytes)
	must.Succeed(t, err)
	return certificate
}

func verify(t *testing.T, a Authority, certificate *x509.Certificate, usage x509.ExtKeyUsage, at time.Time, host string) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(decode(t, a.Certificate))
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: at, DNSName: host,
	})
	return err
}

func TestCertificatesAreValidForTheirRequestOnly(t *testing.T) {
	const client, server = x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	ca, other := authority(t, "ca"), authority(t, "other")
	clients := issue(t, ca, Request{User: "system:node:node-1", Groups: []string{"system:nodes"}})
	servers := issue(t, ca, Request{User: "api", Hosts: []string{"kubernetes.default", "198.18.0.1"}})
	for name, test := range map[string]struct {
		authority   Authority
		certificate *x509.Certificate
		usage       x509.ExtKeyUsage
		at          time.Time
		host        string
		want        bool
	}{
		"client":                           {ca, clients, client, now, "", true},
		"client as a server":               {ca, clients, server, now, "", false},
		"server by name":                   {ca, servers, server, now, "kubernetes.default", true},
		"server by address":                {ca, servers, server, now, "198.18.0.1", true},
		"server by another name":           {ca, servers, server, now, "kubernetes", false},
		"server as a client":               {ca, servers, client, now, "", true},
		"signed by another authority":      {other, clients, client, now, "", false},
		"on a clock that is a bit behind":  {ca, clients, client, now.Add(-skew / 2), "", true},
		"on a clock that is far behind":    {ca, clients, client, now.Add(-2 * skew), "", false},
		"at the end of the lifetime":       {ca, clients, client, now.Add(lifetime), "", true},
		"a second after it":                {ca, clients, client, now.Add(lifetime + time.Second), "", false},
		"an issued one is no authority":    {Authority{Pair: Pair{Certificate: encode(servers)}}, clients, client, now, "", false},
		"the authority's own, as a client": {other, decode(t, ca.Certificate), client, now, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := verify(t, test.authority, test.certificate, test.usage, test.at, test.host)
			if (err == nil) != test.want {
				t.Errorf("verify: %v, want success %t", err, test.want)
			}
		})
	}
}

func encode(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

func TestSerialsDiffer(t *testing.T) {
	ca := authority(t, "ca")
	first, second := issue(t, ca, Request{User: "a"}), issue(t, ca, Request{User: "a"})
	if first.SerialNumber.Cmp(second.SerialNumber) == 0 {
		t.Error("two certificates of one authority have the same serial number")
	}
}

func TestTokenKeyIsAPair(t *testing.T) {
	private, public, err := TokenKey()
	must.Succeed(t, err)
	block, _ := pem.Decode(private)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	must.Succeed(t, err)
	block, _ = pem.Decode(public)
	half, err := x509.ParsePKIXPublicKey(block.Bytes)
	must.Succeed(t, err)
	if verifier, ok := half.(*ecdsa.PublicKey); !ok || !key.PublicKey.Equal(verifier) {
		t.Errorf("the public half %T is not the private one's", half)
	}
	if strings.Contains(string(public), "PRIVATE") {
		t.Error("the public half has a private key")
	}
}

func TestKubeconfigHasWhatKubectlNeeds(t *testing.T) {
	content, err := Kubeconfig("https://198.19.0.1:6443", []byte("authority"), "admin",
		Pair{Certificate: []byte("certificate"), Key: []byte("key")})
	must.Succeed(t, err)
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	want := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "loadtest",
		"clusters": []any{map[string]any{"name": "loadtest", "cluster": map[string]any{
			"server": "https://198.19.0.1:6443", "certificate-authority-data": encoded("authority")}}},
		"users": []any{map[string]any{"name": "admin", "user": map[string]any{
			"client-certificate-data": encoded("certificate"), "client-key-data": encoded("key")}}},
		"contexts": []any{map[string]any{"name": "loadtest", "context": map[string]any{
			"cluster": "loadtest", "user": "admin"}}},
	}
	var got map[string]any
	must.Succeed(t, yaml.Unmarshal(content, &got))
	same.As(t, "kubeconfig", want, got)
}
