package scripted

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Secure puts TLS in front of a server on this machine: it returns the configuration of
// dialers that reach the server over TLS. How the server ends a connection is passed on: by
// its end, without close_notify, or by a reset. A URL with port 1, where no server is, is
// only made one of https.
func Secure(t testing.TB, plain string) dial.Config {
	t.Helper()
	client, server := Identity(t)
	u, err := url.Parse(plain)
	must.Succeed(t, err)
	u.Scheme = "https"
	if u.Port() == "1" {
		return dial.Config{URL: u.String(), TLS: client}
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go secure(lis, "127.0.0.1:"+u.Port(), server)
	_, port, _ := net.SplitHostPort(lis.Addr().String())
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return dial.Config{URL: u.String(), TLS: client}
}

func secure(lis net.Listener, to string, config *tls.Config) {
	for {
		outer, err := lis.Accept()
		if err != nil {
			return
		}
		inner, err := net.Dial("tcp", to) // in the order of the connections
		if err != nil {
			_ = outer.Close()
			continue
		}
		secured := tls.Server(outer, config)
		go func() { pass(secured, inner, inner.(*net.TCPConn)) }()
		go func() { pass(inner, secured, outer.(*net.TCPConn)) }()
	}
}

// pass passes on what comes from one side, and how that ends, to the socket of the other.
func pass(from io.Reader, to io.Writer, socket *net.TCPConn) {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 32<<10))
	if errors.Is(err, syscall.ECONNRESET) {
		_ = socket.SetLinger(0)
	}
	_ = socket.Close()
}
