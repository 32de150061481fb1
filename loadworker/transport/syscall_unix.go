//go:build unix && (race || !linux)

package transport

import "syscall"

// This is for all systems, and with the race detector for Linux, too: package
// syscall tells it that a request comes before its response, on which tests
// build whose server is in the same process.

func readNow(fd int32, b []byte) (int, error)  { return transfer(syscall.Read, fd, b) }
func writeNow(fd int32, b []byte) (int, error) { return transfer(syscall.Write, fd, b) }

func transfer(call func(int, []byte) (int, error), fd int32, b []byte) (int, error) {
	for {
		if n, err := call(int(fd), b); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
