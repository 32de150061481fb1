package scripted

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Script is what a server does with a connection, which is closed after that.
type Script = func(*net.TCPConn, *bufio.Reader)

// Empty is a response without a body.
const Empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// Serve starts a server whose n-th connection follows the n-th script. It returns
// the server's URL.
func Serve(t testing.TB, scripts ...Script) string {
	t.Helper()
	return serve(t, slices.Values(scripts))
}

// ServeAll starts a server all of whose connections follow a script. It returns the
// server's URL.
func ServeAll(t testing.TB, script Script) string {
	t.Helper()
	return serve(t, func(yield func(Script) bool) {
		for yield(script) {
		}
	})
}

func serve(t testing.TB, scripts iter.Seq[Script]) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for script := range scripts {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				script(conn.(*net.TCPConn), bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + lis.Addr().String()
}

// Answer is a script that reads a request and writes a text, for each text.
func Answer(texts ...string) Script {
	return func(c *net.TCPConn, r *bufio.Reader) {
		for _, text := range texts {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, text)
		}
	}
}

// Stay is a script that then keeps the connection open until the client closes it.
func Stay(script Script) Script {
	return func(c *net.TCPConn, r *bufio.Reader) {
		script(c, r)
		_, _ = io.Copy(io.Discard, r)
	}
}

// Identity returns the configurations of the two sides of a TLS connection.
func Identity(t testing.TB) (client, server *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12},
		&tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
}

// ServeTLS is Serve over TLS. It returns the configuration of the client's dialer.
func ServeTLS(t testing.TB, scripts ...func(*tls.Conn, *bufio.Reader)) dial.Config {
	t.Helper()
	client, server := Identity(t)
	var plain []Script
	for _, script := range scripts {
		plain = append(plain, func(c *net.TCPConn, _ *bufio.Reader) {
			secured := tls.Server(c, server)
			script(secured, bufio.NewReader(secured))
		})
	}
	return dial.Config{URL: strings.Replace(Serve(t, plain...), "http:", "https:", 1), TLS: client}
}
