package scripted

import (
	"crypto/tls"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// AwaitEvent waits for an event of poll(2) of a connection, whether there is TLS on it or
// not.
func AwaitEvent(t testing.TB, conn net.Conn, event int16) {
	t.Helper()
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	must.Succeed(t, err)
	if err := raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}}, int(Patience.Milliseconds()))
		if n != 1 {
			t.Errorf("event %#x does not come: %v", event, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
