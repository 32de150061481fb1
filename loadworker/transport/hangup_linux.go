package transport

import "golang.org/x/sys/unix"

// hungUp says whether the other side has closed a socket, whatever there is still
// to be read.
func hungUp(fd uintptr) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
	return n > 0
}
