//go:build !race

package http1

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readNow and writeNow never block, so that they bypass the scheduler's bookkeeping
// of system calls, which would cost a loop a fifth of a request. No error is 0.

func readNow(fd int32, b []byte) (int, syscall.Errno)  { return transfer(unix.SYS_READ, fd, b) }
func writeNow(fd int32, b []byte) (int, syscall.Errno) { return transfer(unix.SYS_WRITE, fd, b) }

func transfer(call uintptr, fd int32, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), 0
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
