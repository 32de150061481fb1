package groundtruth

import (
	"bufio"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// waitTimeout bounds a wait that should not take long; it is no assertion.
const waitTimeout = 2 * time.Minute

func start(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Start(c)
	must.Succeed(t, err)
	t.Cleanup(s.Close)
	return s
}

// authorities are those of the server's certificate; none, if it has no TLS.
func (s *Server) authorities(t *testing.T) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	same.As(t, "the server has a certificate", s.protocol.isSecure(), pool.AppendCertsFromPEM(s.Certificate()))
	return pool
}

// client is a bare connection.
type client struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	c, err := net.Dial("tcp4", address)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must.Succeed(t, c.SetDeadline(time.Now().Add(waitTimeout)))
	return &client{Conn: c, t: t, r: bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) get(path string) {
	c.t.Helper()
	c.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
}

// receive reads n bytes.
func (c *client) receive(n int) string {
	c.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		c.t.Fatalf("after %q: %v", b, err)
	}
	return string(b)
}

// rest reads to the end of the connection.
func (c *client) rest() (string, error) {
	b, err := io.ReadAll(c.r)
	return string(b), err
}

// until waits for counters that are as they should be.
func until(t *testing.T, s *Server, fits func(Counters) bool) Counters {
	t.Helper()
	deadline := time.After(waitTimeout)
	for {
		c := s.Counters()
		if fits(c) {
			return c
		}
		select {
		case <-deadline:
			t.Fatalf("the counters are %+v", c)
		case <-time.After(time.Millisecond):
		}
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one that contains %q", err, want)
	}
}
