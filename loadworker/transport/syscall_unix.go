//go:build unix && (race || !linux)

package transport

import (
	"errors"
	"syscall"
)

// This is for all systems, and with the race detector for Linux, too: package
// syscall tells it that a request comes before its response, on which tests
// build whose server is in the same process.

func readNow(fd int32, b []byte) (int, syscall.Errno)  { return transfer(syscall.Read, fd, b) }
func writeNow(fd int32, b []byte) (int, syscall.Errno) { return transfer(syscall.Write, fd, b) }

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
