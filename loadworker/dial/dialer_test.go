package dial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func newTestDialer(t *testing.T, c Config) *Dialer {
	t.Helper()
	c.Policy = address.Policy{AllowSpecial: true}
	d, err := NewDialer(c)
	must.Succeed(t, err)
	return d
}

func TestNewDialerRefuses(t *testing.T) {
	tests := map[string]string{
		"":                       `target url "": no host`,
		"http://[::1":            `target url: parse "http://[::1": missing ']' in host`,
		"shop":                   `target url "shop": no host`,
		"ftp://shop":             `target url "ftp://shop": scheme must be http or https`,
		"http://shop/path":       `target url "http://shop/path": must be scheme and host only; put the path into requests`,
		"http://shop?a=b":        `target url "http://shop?a=b": must be scheme and host only; put the path into requests`,
		"http://u:secret@shop":   `target url "http://u:xxxxx@shop": must be scheme and host only; put the path into requests`,
		"http://shop:0":          `target url "http://shop:0": port must be between 1 and 65535`,
		"http://shop:65536":      `target url "http://shop:65536": port must be between 1 and 65535`,
		"http://[::1%25eth0]:80": "",
		"http://shop/":           "",
		"https://shop:8443":      "",
	}
	for url, want := range tests {
		t.Run(url, func(t *testing.T) {
			got := ""
			if _, err := NewDialer(Config{URL: url}); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("NewDialer(%q) = %q, want %q", url, got, want)
			}
		})
	}
}

func TestPortDefaultsToTheScheme(t *testing.T) {
	for url, want := range map[string]uint16{
		"http://shop": 80, "https://shop": 443, "http://shop:": 80, "https://shop:80": 80, "http://shop:65535": 65535, "http://[::1]:1": 1,
	} {
		if d := newTestDialer(t, Config{URL: url}); d.target.Port != want {
			t.Errorf("%s is at port %d, want %d", url, d.target.Port, want)
		}
	}
}

// Missing descriptors and ports are counted apart; refusals of the target are not.
func TestDialerCountsWhatIsExhausted(t *testing.T) {
	d := newTestDialer(t, Config{URL: "http://shop"})
	for errno, times := range map[syscall.Errno]int{syscall.EMFILE: 1, syscall.ENFILE: 2, syscall.EADDRNOTAVAIL: 5, syscall.ECONNREFUSED: 9, syscall.EADDRINUSE: 9} {
		for range times {
			d.countExhausted(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errno)})
		}
	}
	if descriptors, ports := d.Exhausted(); descriptors != 3 || ports != 5 {
		t.Errorf("%d times no descriptor and %d times no port was left, want 3 and 5", descriptors, ports)
	}
}

// The kernel has one error for a machine without a port and for one without an address of IPv6, which has a way to the
// target by its other addresses.
func TestOnlyAMachineThatHasAnAddressLacksPorts(t *testing.T) {
	for name, tt := range map[string]struct {
		udp   error
		ports int64
		want  error
	}{
		"no port":    {udp: nil, ports: 1, want: syscall.EADDRNOTAVAIL},
		"no address": {udp: syscall.EADDRNOTAVAIL, want: syscall.ENETUNREACH},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestDialer(t, Config{URL: "http://[2001:db8::1]", Dial: func(_ context.Context, network, _ string) (net.Conn, error) {
				err := tt.udp
				if network == "tcp" {
					err = syscall.EADDRNOTAVAIL
				}
				conn, _ := net.Pipe()
				return conn, err
			}})
			_, err := d.Dial(t.Context())
			if _, ports := d.Exhausted(); ports != tt.ports || !errors.Is(err, tt.want) {
				t.Errorf("%d times no port was left, and %v; want %d and %v", ports, err, tt.ports, tt.want)
			}
		})
	}
}

// A resolver without a descriptor counts like a socket without one.
func TestDialerCountsAResolverWithoutDescriptors(t *testing.T) {
	lacking := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}
	d := newTestDialer(t, Config{URL: "http://a.test", Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return lookUp(ctx, lacking, &net.Resolver{PreferGo: true}, host)
	}})
	if _, err := d.addresses(t.Context()); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("addresses = %v, want that there are too many files", err)
	}
	if descriptors, _ := d.Exhausted(); descriptors != 1 {
		t.Errorf("%d times no descriptor was left, want once", descriptors)
	}
}

// When no address can be reached, the error is that of the first.
func TestDialerReportsTheFirstFailure(t *testing.T) {
	d, err := NewDialer(Config{URL: "http://a.test", Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("0.0.0.0")}, nil
	}})
	must.Succeed(t, err)
	for _, want := range []string{"a loopback", "a link-local", "an unspecified", "a loopback"} { // the first rotates
		var refused *address.RefusedError
		if err := d.Probe(t.Context()); !errors.As(err, &refused) || refused.Why != want+" address" {
			t.Errorf("Probe = %v, want that %s address is refused", err, want)
		}
	}
}

func TestDialerRotatesTheAddresses(t *testing.T) {
	lis, err := net.Listen("tcp", "0.0.0.0:0")
	must.Succeed(t, err)
	defer func() { _ = lis.Close() }()
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}, nil
	}
	_, port, err := net.SplitHostPort(lis.Addr().String())
	must.Succeed(t, err)
	d := newTestDialer(t, Config{URL: "http://a.test:" + port, Lookup: lookup})
	seen := map[string]int{}
	for range 4 {
		must.Succeed(t, d.Probe(t.Context()))
		conn, err := lis.Accept()
		must.Succeed(t, err)
		host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
		seen[host]++
		_ = conn.Close()
	}
	if seen["127.0.0.1"] != 2 || seen["127.0.0.2"] != 2 {
		t.Errorf("connections by address: %v, want 2 each", seen)
	}
}

func TestDialerTriesTheOtherAddresses(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer func() { _ = lis.Close() }()
	_, port, err := net.SplitHostPort(lis.Addr().String())
	must.Succeed(t, err)
	d := newTestDialer(t, Config{URL: "http://a.test:" + port, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.9.9.9"), netip.MustParseAddr("127.0.0.1")}, nil
	}})
	for range 2 {
		if err := d.Probe(t.Context()); err != nil {
			t.Errorf("Probe = %v, want that the second address is tried", err)
		}
	}
}

func TestPolicyHoldsForResolvedNames(t *testing.T) {
	d, err := NewDialer(Config{URL: "http://innocent.test", Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}})
	must.Succeed(t, err)
	var refused *address.RefusedError
	if err = d.Probe(t.Context()); !errors.As(err, &refused) {
		t.Fatalf("Probe = %v, want a RefusedError", err)
	}
	if want := "address 169.254.169.254 is refused: a link-local address"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Probe = %v, want …%s", err, want)
	}
}
