package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// Pending is how many bytes have come at a socket and were not read.
func Pending(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.SIOCINQ) }

// pending is Pending of a connection.
func pending(conn net.Conn) (n int) {
	if raw := RawConn(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) { n, _ = Pending(int(fd)) }) // a closed one has none
	}
	return n
}
