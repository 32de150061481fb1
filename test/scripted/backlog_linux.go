package scripted

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// FullBacklog is the address of a socket that accepts no connection: its kernel answers no
// attempt to connect.
func FullBacklog(t testing.TB) netip.AddrPort {
	t.Helper()
	socket := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		must.Succeed(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	lis, host := socket(), [4]byte{127, 0, 0, 1}
	must.Succeed(t, unix.Bind(lis, &unix.SockaddrInet4{Addr: host}))
	must.Succeed(t, unix.Listen(lis, 0))
	at, err := unix.Getsockname(lis)
	must.Succeed(t, err)
	for range 4 { // the kernel takes one more than the backlog
		_ = unix.Connect(socket(), at) // EINPROGRESS
	}
	return netip.AddrPortFrom(netip.AddrFrom4(host), uint16(at.(*unix.SockaddrInet4).Port))
}
