//go:build unix && (race || !linux)

package socket

import (
	"errors"
	"syscall"
)

// Read and Write are these on other systems, and on Linux with the race
// detector: package syscall reports to it that a request happens before its
// response, which tests rely on whose server is in the same process.

// Read reads what has arrived.
func Read(fd int32, b []byte) (int, syscall.Errno) { return transfer(syscall.Read, fd, b) }

// Write writes what there is room for.
func Write(fd int32, b []byte) (int, syscall.Errno) { return transfer(syscall.Write, fd, b) }

func transfer(call func(int, []byte) (int, error), fd int32, b []byte) (int, syscall.Errno) {
	for {
		n, err := call(int(fd), b)
		var errno syscall.Errno
		errors.As(err, &errno)
		if errno != syscall.EINTR {
			return max(n, 0), errno
		}
	}
}
