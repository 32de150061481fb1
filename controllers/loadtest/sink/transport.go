package sink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
)

const (
	// connectWithin and answerWithin bound what a server that hangs can hold up: the
	// attempt as a whole is bounded by its context.
	connectWithin = 5 * time.Second
	answerWithin  = 15 * time.Second
)

// Connected calls a function with a client for a few requests, which keeps no connection
// and no certificate longer. The file has more authorities to trust, if it is there.
func Connected(authorities string, do func(*http.Client) error) error {
	roots, err := trusted(authorities)
	if err != nil {
		return err
	}
	dialer := &net.Dialer{Timeout: connectWithin, Control: refuseSpecial}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectWithin, ResponseHeaderTimeout: answerWithin,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	defer transport.CloseIdleConnections()
	return do(&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

// trusted are the authorities of the machine and those of a file; nil: those of the
// machine alone.
func trusted(file string) (*x509.CertPool, error) {
	more, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Problem("the file ca.crt cannot be read")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(more) {
		return nil, Problem("the file ca.crt has no certificate")
	}
	return roots, nil
}

// refuseSpecial lets nothing be sent to where clouds hand out credentials, whatever a name
// leads to. Loopback is allowed: a proxy may stand in the operator's own pod.
func refuseSpecial(_, to string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return err
	}
	if kind := address.SpecialKind(at.Addr()); kind != "" && !address.Plain(at.Addr()).IsLoopback() {
		return Problem("the name of the server leads to " + kind + " address")
	}
	return nil
}
