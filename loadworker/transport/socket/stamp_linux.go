package socket

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamp has the kernel say of the bytes of a socket when they came (SO_TIMESTAMPNS of
// socket(7), for TCP since Linux 4.14).
func Stamp(fd int) bool {
	return stamps && unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
}

// Control is room for the control message of a read, aligned as the kernel does.
type Control [8]uint64

// waited returns how long ago the last bytes of a read came, from the n bytes of its
// control message. It is 0 if they do not say, or if the clock was set back since.
func (b *Control) waited(n int, now time.Time) time.Duration {
	const size = unix.SizeofCmsghdr + int(unsafe.Sizeof(unix.Timespec{}))
	header := (*unix.Cmsghdr)(unsafe.Pointer(b))
	if n < size || header.Level != unix.SOL_SOCKET || header.Type != unix.SO_TIMESTAMPNS {
		return 0
	}
	came := (*unix.Timespec)(unsafe.Add(unsafe.Pointer(b), unix.SizeofCmsghdr))
	return max(0, now.Sub(time.Unix(came.Unix())))
}
