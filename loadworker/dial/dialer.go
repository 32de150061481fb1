package dial

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// Dialer opens connections to one target.
type Dialer struct {
	target   Target
	tls      *tls.Config // nil: plain
	resume   bool
	policy   Policy
	resolver *resolver
	dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: that of package net

	next        atomic.Uint32 // of the addresses
	descriptors atomic.Int64  // attempts that failed because none was left
	ports       atomic.Int64  // the same
	shaken      handshakes
}

// Config configures a Dialer.
type Config struct {
	// URL is the target's scheme and host.
	URL string
	// Name is looked up instead of the URL's host. One that ends in a dot is absolute: no
	// search domain is tried.
	Name string
	// Policy decides which addresses may be dialled. Absent: none.
	Policy Policy
	// Lookup resolves host names. Absent: the system's resolver.
	Lookup Lookup
	// Dial opens a connection to an address. Absent: by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is used for https. Absent: the system's certificates.
	TLS *tls.Config
	// Resume has connections with a Session resume it.
	Resume bool
	// HTTP2 says that connections are for HTTP/2.
	HTTP2 bool
}

// Policy decides which addresses may be dialled.
type Policy interface {
	Check(to netip.AddrPort) error
	// Pods are the addresses of the target's pods that may be dialled at a port; nil:
	// the target's addresses are not those of pods.
	Pods(port uint16) []netip.Addr
}

// NewDialer returns a Dialer, or an error that names the mistake in the URL.
func NewDialer(c Config) (*Dialer, error) {
	target, err := parseTarget(c.URL, c.HTTP2)
	if err != nil {
		return nil, err
	}
	lookup := c.Lookup
	if lookup == nil {
		lookup = SystemLookup
	}
	d := &Dialer{target: target, policy: c.Policy, resume: c.Resume, dial: c.Dial, resolver: &resolver{host: cmp.Or(c.Name, target.Name), lookup: lookup, now: time.Now}}
	if d.policy == nil {
		d.policy = address.Policy{}
	}
	if target.TLS {
		d.tls = target.tlsConfig(c.TLS)
	}
	return d, nil
}

// ForProxy returns a Dialer for the proxy at url, with this Dialer's name and policy. The proxy
// resolves the target's name.
func (d *Dialer) ForProxy(url string) (*Dialer, error) {
	name := ""
	if d.resolver.host != d.target.Name {
		name = d.resolver.host
	}
	proxy, err := NewDialer(Config{URL: url, Name: name, Policy: d.policy, Lookup: d.resolver.lookup})
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	return proxy, nil
}

// Target returns what the Dialer connects to.
func (d *Dialer) Target() Target { return d.target }

// Exhausted returns how many attempts to connect failed because this process had
// no descriptor, or this address no port, left.
func (d *Dialer) Exhausted() (descriptors, ports int64) {
	return d.descriptors.Load(), d.ports.Load()
}

// countExhausted counts an attempt that failed for want of either.
func (d *Dialer) countExhausted(err error) {
	switch {
	case failure.IsDescriptors(err):
		d.descriptors.Add(1)
	case failure.IsPorts(err):
		d.ports.Add(1)
	}
}

// addresses returns the addresses to which the target's host resolves.
func (d *Dialer) addresses(ctx context.Context) ([]netip.Addr, error) {
	addrs, err := d.resolver.resolve(ctx)
	if err != nil {
		d.countExhausted(err)
		return nil, &failure.Error{Phase: failure.Resolving, Err: err}
	}
	return d.followed(addrs), nil
}

// followed returns the addresses of an answer, or, if the policy permits none of them, those
// of the target's pods. Name servers and the operator have a pod that takes the place of another
// some seconds apart, and either may be first.
func (d *Dialer) followed(answer []netip.Addr) []netip.Addr {
	if slices.ContainsFunc(answer, d.permits) {
		return answer
	}
	if pods := d.policy.Pods(d.target.Port); len(pods) > 0 {
		return pods
	}
	return answer
}

func (d *Dialer) permits(a netip.Addr) bool {
	return d.policy.Check(netip.AddrPortFrom(a, d.target.Port)) == nil
}

// Dial opens a connection. It begins with the next of the target's addresses each
// time, so that a headless Service gets an equal share on every pod, and tries the
// others when that fails.
func (d *Dialer) Dial(ctx context.Context) (net.Conn, error) {
	return d.DialWrapped(ctx, func(c net.Conn) net.Conn { return c })
}

// DialWrapped is Dial. The TCP connection is passed to wrap before the TLS
// handshake.
func (d *Dialer) DialWrapped(ctx context.Context, wrap func(net.Conn) net.Conn) (net.Conn, error) {
	addrs, err := d.addresses(ctx)
	if err != nil {
		return nil, err
	}
	first := d.next.Add(1) - 1
	for i := range addrs {
		addr := addrs[(int(first)+i)%len(addrs)]
		conn, dialErr := d.connect(ctx, addr)
		if dialErr == nil {
			if d.tls != nil {
				conn = Counting(ctx, conn)
			}
			return d.Handshake(ctx, wrap(conn))
		}
		d.countExhausted(dialErr)
		if err == nil {
			err = dialErr
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, &failure.Error{Phase: failure.Dialing, Err: err}
}

// connect opens a TCP connection to an address that the policy permits.
func (d *Dialer) connect(ctx context.Context, addr netip.Addr) (net.Conn, error) {
	opening := openingOf(ctx)
	defer opening.goOn()
	// The policy is checked last, on the very address that is connected to.
	check := func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil {
			err = d.policy.Check(to)
		}
		opening.wait()
		return err
	}
	to := netip.AddrPortFrom(addr, d.target.Port).String()
	dial := d.dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: -1, Control: check}).DialContext
	} else if err := check("tcp", to, nil); err != nil {
		return nil, err
	}
	conn, err := dial(ctx, "tcp", to)
	if failure.IsPorts(err) && d.lacksAddress(ctx, to) {
		return nil, fmt.Errorf("this machine has no address from which it could connect to %s: %w", to, syscall.ENETUNREACH)
	}
	return conn, err
}

// lacksAddress reports whether this machine has no address from which to connect to one of IPv6, as where that is
// switched off: the kernel's error is the same as if no port was left. A socket of UDP, which sends nothing, needs
// the same address, and another port.
func (d *Dialer) lacksAddress(ctx context.Context, to string) bool {
	dial := d.dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "udp", to)
	if err == nil {
		_ = conn.Close()
	}
	return failure.IsPorts(err)
}

// Handshake puts TLS on a connection to the target, if the target uses it. It
// closes the connection when that fails.
func (d *Dialer) Handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if d.tls == nil {
		return conn, nil
	}
	secured, began := tls.Client(conn, d.tlsFor(ctx)), time.Now()
	err := secured.HandshakeContext(ctx)
	if err == nil && d.target.HTTP2 && secured.ConnectionState().NegotiatedProtocol != http2Protocol {
		err = errors.New("the target does not offer HTTP/2 (by ALPN)")
	}
	if err != nil {
		return nil, errors.Join(&failure.Error{Phase: failure.Handshaking, Err: err}, conn.Close())
	}
	if !isProbing(ctx) {
		d.shaken.record(time.Since(began), secured.ConnectionState().DidResume)
	}
	return secured, nil
}

// Probe opens one connection and closes it.
func (d *Dialer) Probe(ctx context.Context) error {
	conn, err := d.Dial(Probing(ctx))
	if err != nil {
		return err
	}
	return conn.Close()
}
