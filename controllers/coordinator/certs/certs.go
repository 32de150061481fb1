package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// validity is that of the CA as well: its key is not kept, so that it is of no
	// use once its one certificate has expired.
	validity = 365 * 24 * time.Hour
	// backdate lets a worker connect whose node's clock is behind.
	backdate = time.Hour
	// remaining is for how long a pair must be valid to be used.
	remaining = 30 * 24 * time.Hour
)

// Pair is a serving certificate and its key, with the CA that signed it, in PEM.
type Pair struct {
	CA, Cert, Key []byte
}

// Generate makes a CA and one serving certificate signed by it.
//
// The CA's key is dropped, so that no second certificate can be made that workers
// would trust.
func Generate(now time.Time) (Pair, error) {
	ca := template("loadtest coordinator CA", now)
	ca.IsCA = true
	ca.MaxPathLenZero = true
	ca.KeyUsage = x509.KeyUsageCertSign
	// Even with its key, the CA is good for no other name.
	ca.PermittedDNSDomainsCritical = true
	ca.PermittedDNSDomains = []string{workerv1.ServerName}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generate CA key: %w", err)
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return Pair{}, fmt.Errorf("create CA: %w", err)
	}

	leaf := template(workerv1.ServerName, now)
	leaf.DNSNames = []string{workerv1.ServerName}
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generate key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return Pair{}, fmt.Errorf("create certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("marshal key: %w", err)
	}
	return Pair{CA: encode("CERTIFICATE", caDER), Cert: encode("CERTIFICATE", der), Key: encode("PRIVATE KEY", keyDER)}, nil
}

// Valid is nil if the pair can be used now and for 30 days; if not, it says why.
func (p Pair) Valid(now time.Time) error {
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return fmt.Errorf("load certificate and key: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(p.CA) {
		return errors.New("load CA: no certificate in PEM")
	}
	for _, at := range []time.Time{now, now.Add(remaining)} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{
			DNSName:     workerv1.ServerName,
			Roots:       roots,
			CurrentTime: at,
			KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
		if err != nil {
			return fmt.Errorf("verify certificate at %s: %w", at.UTC().Format(time.RFC3339), err)
		}
	}
	return nil
}

// template leaves the serial number to the library, which draws it.
func template(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(validity),
		BasicConstraintsValid: true,
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
