package dial

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
)

// Target is what a Dialer connects to.
type Target struct {
	// Host is the value of the Host header.
	Host string
	// Name is the host alone, without a port, and Port the port, by default that
	// of the scheme.
	Name string
	Port uint16
	// TLS and HTTP2 say how the target is spoken to.
	TLS, HTTP2 bool
}

// Scheme returns http or https.
func (t Target) Scheme() string {
	if t.TLS {
		return "https"
	}
	return "http"
}

// Address returns the host and the port, always both.
func (t Target) Address() string { return net.JoinHostPort(t.Name, strconv.Itoa(int(t.Port))) }

// parseTarget parses the URL of a target, which is scheme and host only.
func parseTarget(text string, http2 bool) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, fmt.Errorf("target url: %w", err)
	}
	if u.Hostname() == "" {
		return Target{}, fmt.Errorf("target url %q: no host", text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return Target{}, fmt.Errorf("target url %q: must be scheme and host only; put the path into requests", u.Redacted())
	}
	port, err := portOf(u)
	if err != nil {
		return Target{}, fmt.Errorf("target url %q: %w", text, err)
	}
	return Target{Host: u.Host, Name: u.Hostname(), Port: port, TLS: u.Scheme == "https", HTTP2: http2}, nil
}

func portOf(u *url.URL) (uint16, error) {
	port := uint16(0)
	switch u.Scheme {
	case "http":
		port = 80
	case "https":
		port = 443
	default:
		return 0, fmt.Errorf("scheme must be http or https")
	}
	if u.Port() != "" {
		if _, err := fmt.Sscanf(u.Port(), "%d", &port); err != nil || port == 0 {
			return 0, fmt.Errorf("port must be between 1 and 65535")
		}
	}
	return port, nil
}

// Names of the protocols in ALPN.
const (
	http1Protocol = "http/1.1"
	http2Protocol = "h2"
)

// tlsConfig returns the configuration of a target's connections, made from what
// the user configured.
func (t Target) tlsConfig(base *tls.Config) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		c = base.Clone()
	}
	if c.ServerName == "" {
		c.ServerName = t.Name
	}
	c.NextProtos = []string{http1Protocol}
	if t.HTTP2 {
		c.NextProtos = []string{http2Protocol}
	}
	return c
}
