//go:build !race

package socket

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What it costs to know of each read how long the bytes had waited. Each turn writes, too, from
// the same thread.
func BenchmarkRead(b *testing.B) {
	for _, kind := range []string{"plain", "stamped"} {
		b.Run(kind, func(b *testing.B) {
			near, far := loopback(b)
			var control Control
			in, out := make([]byte, 64<<10), make([]byte, 200)
			if kind == "stamped" && !Stamp(near) {
				b.Fatal("the socket is not stamped")
			}
			for b.Loop() {
				if _, errno := Write(int32(far), out); errno != 0 {
					b.Fatal(errno)
				}
				n, errno := 0, unix.Errno(0)
				if kind == "stamped" {
					n, _, errno = ReadStamped(int32(near), in, &control)
				} else {
					n, errno = Read(int32(near), in)
				}
				if n != len(out) || errno != 0 {
					b.Fatal(n, errno)
				}
			}
		})
	}
}

// loopback returns the sockets of a connection over TCP.
func loopback(t testing.TB) (near, far int) {
	t.Helper()
	open := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must.Succeed(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	lis, near := open(), open()
	err := unix.Listen(lis, 1)
	must.Succeed(t, err)
	to, err := unix.Getsockname(lis)
	if err == nil {
		err = unix.Connect(near, to)
	}
	if err == nil {
		far, _, err = unix.Accept4(lis, unix.SOCK_CLOEXEC)
	}
	must.Succeed(t, err)
	t.Cleanup(func() { _ = unix.Close(far) })
	return near, far
}
