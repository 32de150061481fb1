package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime of every certificate: longer than a test cluster is kept.
const lifetime = 365 * 24 * time.Hour

// skew is how far a certificate reaches into the past, for clocks that step.
const skew = time.Hour

// Authority signs certificates.
type Authority struct {
	Pair
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its private key, PEM encoded.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// Request is the content of a certificate.
type Request struct {
	// User and Groups identify the holder at the API server.
	User   string
	Groups []string
	// Hosts are the names and addresses that a server is called by. A
	// certificate without any is a client's, one with some is good for both:
	// etcd calls itself.
	Hosts []string
}

// NewAuthority makes an authority with a certificate signed by itself.
func NewAuthority(name string, now time.Time) (Authority, error) {
	key, template, err := prepare(pkix.Name{CommonName: name}, now)
	if err != nil {
		return Authority{}, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	pair, err := sign(template, template, key, key)
	if err != nil {
		return Authority{}, fmt.Errorf("sign authority %q: %w", name, err)
	}
	return Authority{Pair: pair, certificate: template, key: key}, nil
}

// Issue makes a key and signs its certificate.
func (a Authority) Issue(request Request, now time.Time) (Pair, error) {
	key, template, err := prepare(pkix.Name{CommonName: request.User, Organization: request.Groups}, now)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(request.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range request.Hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	pair, err := sign(template, a.certificate, key, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign certificate of %q: %w", request.User, err)
	}
	return pair, nil
}

// TokenKey makes the key pair of service-account tokens: the private half
// signs, the public half verifies.
func TokenKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make token key: %w", err)
	}
	private, err = encodeKey(key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encode token key: %w", err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// prepare makes what every certificate has: a key, a random serial, a lifetime.
func prepare(subject pkix.Name, now time.Time) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key of %q: %w", subject.CommonName, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("make serial of %q: %w", subject.CommonName, err)
	}
	return key, &x509.Certificate{
		Subject:      subject,
		SerialNumber: serial,
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (Pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, err
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: encoded}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
