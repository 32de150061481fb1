package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

// Dialer opens connections to one target.
type Dialer struct {
	host     string // as in the Host header
	port     uint16
	agent    string
	tls      *tls.Config // nil: plain
	http2    bool
	policy   Policy
	resolver *resolver

	opened      atomic.Int64
	descriptors atomic.Int64 // attempts that found none left
	ports       atomic.Int64 // the same
	turn        atomic.Uint32
}

// Config is what a Dialer needs to know.
type Config struct {
	// URL is the target's scheme and host.
	URL string
	// Agent is the value of User-Agent.
	Agent string
	// Policy says which addresses may be dialled.
	Policy Policy
	// Lookup resolves host names. Absent: the system's resolver.
	Lookup Lookup
	// TLS is used for https. Absent: the system's certificates.
	TLS *tls.Config
	// HTTP2 says that connections are for HTTP/2.
	HTTP2 bool
}

// NewDialer returns a Dialer, or an error that says what is wrong with the URL.
func NewDialer(c Config) (*Dialer, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("target url: %w", err)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("target url %q: no host", c.URL)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return nil, fmt.Errorf("target url %q: must be scheme and host only; put the path into requests", u.Redacted())
	}
	port, err := portOf(u)
	if err != nil {
		return nil, fmt.Errorf("target url %q: %w", c.URL, err)
	}
	d := &Dialer{host: u.Host, port: port, agent: c.Agent, policy: c.Policy, http2: c.HTTP2}
	if u.Scheme == "https" {
		d.tls = tlsConfig(c.TLS, u.Hostname(), c.HTTP2)
	}
	lookup := c.Lookup
	if lookup == nil {
		lookup = SystemLookup
	}
	d.resolver = &resolver{host: u.Hostname(), lookup: lookup, now: time.Now}
	return d, nil
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

func tlsConfig(base *tls.Config, host string, http2 bool) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		c = base.Clone()
	}
	if c.ServerName == "" {
		c.ServerName = host
	}
	c.NextProtos = []string{http1Protocol}
	if http2 {
		c.NextProtos = []string{http2Protocol}
	}
	return c
}

// Opened is how many connections were opened for requests so far.
func (d *Dialer) Opened() int64 { return d.opened.Load() }

// Exhausted is how many attempts to connect failed for want of a descriptor or a
// local port.
func (d *Dialer) Exhausted() (descriptors, ports int64) {
	return d.descriptors.Load(), d.ports.Load()
}

// exhausted counts an attempt that failed for want of either.
func (d *Dialer) exhausted(err error) {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		d.descriptors.Add(1)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		d.ports.Add(1)
	}
}

// Addresses is what the target's host resolves to.
func (d *Dialer) Addresses(ctx context.Context) ([]netip.Addr, error) {
	addrs, err := d.resolver.resolve(ctx)
	if err != nil {
		d.exhausted(err)
		return nil, &Error{Phase: Resolving, Err: err}
	}
	return addrs, nil
}

// dial opens a connection to one of the target's addresses, each in turn, so
// that a headless Service gets its share on every pod; the others are tried
// when it fails.
func (d *Dialer) dial(ctx context.Context) (net.Conn, error) {
	return d.open(ctx, func(c net.Conn) net.Conn { return c })
}

// open is dial; the bare connection, under TLS, is handed to wrap first.
func (d *Dialer) open(ctx context.Context, wrap func(net.Conn) net.Conn) (net.Conn, error) {
	addrs, err := d.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	first := d.turn.Add(1) - 1
	for i := range addrs {
		addr := addrs[(int(first)+i)%len(addrs)]
		conn, dialErr := d.connect(ctx, addr)
		if dialErr == nil {
			return d.secure(ctx, wrap(conn))
		}
		d.exhausted(dialErr)
		if err == nil {
			err = dialErr
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, &Error{Phase: Dialing, Err: err}
}

func (d *Dialer) connect(ctx context.Context, addr netip.Addr) (net.Conn, error) {
	// The policy is kept at the last moment, on the very address that is
	// connected to, so that no resolver can slip one past it.
	dialer := net.Dialer{
		KeepAlive: -1,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return d.policy.Check(to.Addr())
		},
	}
	return dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, d.port).String())
}

func (d *Dialer) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if d.tls == nil {
		return conn, nil
	}
	secured := tls.Client(conn, d.tls)
	err := secured.HandshakeContext(ctx)
	if err == nil {
		err = d.handshaken(secured.ConnectionState())
	}
	if err != nil {
		// The handshake's own context error hides whether it was cut or timed out.
		return nil, errors.Join(&Error{Phase: Handshaking, Err: err}, conn.Close())
	}
	return secured, nil
}

// Probe opens one connection and closes it.
func (d *Dialer) Probe(ctx context.Context) error {
	conn, err := d.dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}
