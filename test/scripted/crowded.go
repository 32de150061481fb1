package scripted

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Crowded returns the client's side of a TLS connection whose other side reads nothing after
// the handshake, so that there is no room for what is written, and the number of writes that
// have waited for room until their deadline.
func Crowded(t testing.TB) (secured *tls.Conn, waited func() int) {
	t.Helper()
	client, server := Identity(t)
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	c := &crowded{Conn: near}
	go func() { _ = tls.Server(far, server).Handshake() }()
	secured = tls.Client(c, client)
	must.Succeed(t, secured.Handshake())
	return secured, func() int { return int(c.waited.Load()) }
}

type crowded struct {
	net.Conn
	waited atomic.Int32
}

func (c *crowded) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.waited.Add(1)
	}
	return n, err
}
