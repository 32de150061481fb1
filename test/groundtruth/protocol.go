package groundtruth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// Protocol is what a Server speaks. It speaks no other, so that all that it counts is of
// that one.
type Protocol string

const (
	// HTTP1 is HTTP/1.1 without TLS, from event loops. It is the default.
	HTTP1 Protocol = "http1"
	// TLS is HTTP/1.1 over TLS 1.2 or 1.3, as the client asks for. It is served by net/http, as
	// are those below, which costs several times what an event loop does.
	TLS Protocol = "tls"
	// HTTP2 is HTTP/2 over TLS, agreed by ALPN.
	HTTP2 Protocol = "h2"
	// H2C is HTTP/2 by prior knowledge, without TLS.
	H2C Protocol = "h2c"
)

// isSecure reports whether it is over TLS.
func (p Protocol) isSecure() bool { return p == TLS || p == HTTP2 }

// check refuses what the protocol cannot do.
func (c *Config) check() error {
	for name, n := range map[string]int{"record": c.Record, "every": c.Every, "times": c.Times} {
		if n < 0 {
			return fmt.Errorf("%s must not be negative", name)
		}
	}
	switch {
	case !slices.Contains([]Protocol{HTTP1, TLS, HTTP2, H2C}, c.Protocol):
		return fmt.Errorf("protocol %q must be http1, tls, h2 or h2c", c.Protocol)
	case c.Certificate != nil && !c.Protocol.isSecure():
		return fmt.Errorf("a certificate must not be set for %s, which is without TLS", c.Protocol)
	case (c.Loops > 1 || c.Stamp) && c.Protocol != HTTP1:
		return fmt.Errorf("loops and stamp must not be set for %s, which has no loops", c.Protocol)
	}
	for _, e := range c.Script {
		if c.Protocol == HTTP1 && (e.Kind == GoAway || e.Kind == SlowReads) {
			return fmt.Errorf("event %s must not be set for %s", e.Kind, c.Protocol)
		}
	}
	for name, r := range c.Routes {
		if err := c.checkStream(r.Reply.Stream); err != nil {
			return fmt.Errorf("route %q: %w", name, err)
		}
	}
	_, err := c.frame()
	return err
}

// checkStream refuses a stream that cannot be sent; nil is none.
func (c *Config) checkStream(s *Stream) error {
	switch {
	case s == nil:
		return nil
	case s.Format == Messages && c.Protocol != HTTP2 && c.Protocol != H2C:
		return fmt.Errorf("a stream of the format grpc must not be set for %s", c.Protocol)
	}
	if s.Format == WebSocket && c.Protocol != HTTP1 {
		return fmt.Errorf("a stream of the format websocket must not be set for %s", c.Protocol)
	}
	return s.complete().check()
}

// ownCertificate is for 127.0.0.1 and example.com. Its key is for ECDSA: a handshake by RSA
// costs the server as much as fifty requests, and so would show in their times.
func ownCertificate() (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ground truth"},
		DNSNames: []string{"example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// encode returns a certificate in PEM.
func encode(c tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
}
