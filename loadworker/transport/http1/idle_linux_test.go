package http1

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
	await := func(event int16) {
		t.Helper()
		if err := rawConn(conn).Control(func(fd uintptr) { awaitEvent(t, int32(fd), event) }); err != nil {
			t.Fatal(err)
		}
	}
	await(unix.POLLIN)
	if plain, secured := alive(conn), alive(tls.Client(conn, nil)); plain || !secured {
		t.Errorf("with bytes to read: alive %v, over TLS %v; want only the latter", plain, secured)
	}
	close(leave)
	await(unix.POLLRDHUP)
	if alive(tls.Client(conn, nil)) {
		t.Error("alive over TLS after the end")
	}
}
