package socket

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A server may send session tickets at any time: the connection stays open. After
// close_notify, which may be unread before the end, it does not.
func TestAliveIgnoresSessionTickets(t *testing.T) {
	leave := make(chan struct{})
	url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
		_, _ = io.WriteString(c, "a ticket")
		<-leave
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	scripted.AwaitEvent(t, conn, unix.POLLIN)
	if plain, secured := Alive(conn), Alive(tls.Client(conn, nil)); plain || !secured {
		t.Errorf("with bytes to read: alive %v, over TLS %v; want only the latter", plain, secured)
	}
	close(leave)
	scripted.AwaitEvent(t, conn, unix.POLLRDHUP)
	if Alive(tls.Client(conn, nil)) {
		t.Error("alive over TLS after the end")
	}
}
