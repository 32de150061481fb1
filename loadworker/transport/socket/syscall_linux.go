//go:build !race

package socket

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read and Write never block, so that they bypass the scheduler's bookkeeping
// of system calls, which would cost a loop a fifth of a request. They are recv and send,
// which cost less than read and write: the kernel does not pass them through its file system.
// No error is 0.

// Read reads what has arrived.
func Read(fd int32, b []byte) (int, syscall.Errno) { return transfer(unix.SYS_RECVFROM, fd, b) }

// Write writes what there is room for.
func Write(fd int32, b []byte) (int, syscall.Errno) { return transfer(unix.SYS_SENDTO, fd, b) }

func transfer(call uintptr, fd int32, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// stamps: ReadStamped works.
const stamps = true

// ReadStamped reads from a socket, and returns how long ago the last bytes came.
func ReadStamped(fd int32, b []byte, c *Control) (n int, waited time.Duration, errno syscall.Errno) {
	part := unix.Iovec{Base: unsafe.SliceData(b), Len: uint64(len(b))}
	message := unix.Msghdr{Iov: &part, Iovlen: 1, Control: (*byte)(unsafe.Pointer(c))}
	for {
		message.Controllen = uint64(unsafe.Sizeof(*c))
		read, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)), 0)
		switch errno {
		case 0:
			return int(read), c.waited(int(message.Controllen), time.Now()), 0
		case unix.EINTR:
		default:
			return 0, 0, errno
		}
	}
}
