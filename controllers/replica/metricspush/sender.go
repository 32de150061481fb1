package metricspush

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	// maxFile bounds a file of the folder, and maxHeaders the headers in it.
	maxFile    = 64 << 10
	maxHeaders = 32
)

// The files of the folder, each of which may be absent.
const (
	headersFile     = "headers"
	authoritiesFile = "ca.crt"
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
)

// reserved are headers that belong to the request.
var reserved = []string{"Host", "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "User-Agent"}

// sender sends a request with what the folder has now: a Secret may have been renewed. It is used by
// one goroutine at a time.
type sender struct {
	folder string
	// status is that of the most recent answer; 0: there was none.
	status int
}

var _ http.RoundTripper = (*sender)(nil)

// RoundTrip opens a connection of its own.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	headers, err := s.headers()
	if err != nil {
		return nil, err
	}
	if len(headers) > 0 && r.URL.Scheme != "https" {
		return nil, fmt.Errorf("file %s: headers are sent over TLS alone; give an endpoint that begins with https, or remove the file", headersFile)
	}
	config, err := s.tls()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, DisableKeepAlives: true, MaxResponseHeaderBytes: maxFile, ForceAttemptHTTP2: true}
	answer, err := transport.RoundTrip(r)
	if err == nil {
		s.status = answer.StatusCode
	}
	return answer, err
}

// read is a file of the folder; nil: there is none.
func (s *sender) read(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(s.folder, name))
	if errors.Is(err, os.ErrNotExist) || s.folder == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("file %s: %w", name, err)
	case len(data) > maxFile:
		return nil, fmt.Errorf("file %s: has more than %d bytes", name, maxFile)
	}
	return data, nil
}

// headers are those of the file, a line each: Name: value. An error has no value.
func (s *sender) headers() (map[string]string, error) {
	data, err := s.read(headersFile)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		number := i + 1
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("file %s: line %d must be Name: value", headersFile, number)
		case slices.Contains(reserved, name):
			return nil, fmt.Errorf("file %s: line %d must not set %s, which belongs to the request", headersFile, number, name)
		}
		if all[name] = value; len(all) > maxHeaders {
			return nil, fmt.Errorf("file %s: has more than %d headers", headersFile, maxHeaders)
		}
	}
	return all, nil
}

// tls has the authorities of the file beside the public ones, and the certificate if there is one.
func (s *sender) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	authorities, err := s.read(authoritiesFile)
	if err != nil {
		return nil, err
	}
	if len(authorities) > 0 {
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("file %s: holds no certificate in PEM", authoritiesFile)
		}
	}
	certificate, err := s.read(certificateFile)
	if err != nil {
		return nil, err
	}
	key, err := s.read(keyFile)
	switch {
	case err != nil:
		return nil, err
	case len(certificate) == 0 && len(key) == 0:
		return config, nil
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("files %s and %s: are not a certificate and its key in PEM", certificateFile, keyFile)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
