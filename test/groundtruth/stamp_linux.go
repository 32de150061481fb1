package groundtruth

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamp has the kernel say of the bytes of each connection of a listener when they came.
func stamp(listener int, is bool) error {
	if !is {
		return nil
	}
	return unix.SetsockoptInt(listener, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// stampedReads reads from sockets that are stamped. Its memory is reused: the kernel writes to it.
type stampedReads struct {
	// ahead is by how much the clock of the day, of which stamps are, was ahead of the monotonic one when they were
	// compared.
	ahead, compared int64
	control         [8]uint64 // aligned as the kernel does
	part            unix.Iovec
	message         unix.Msghdr
}

// read returns when the kernel had received the last byte, on its monotonic clock; 0: it does not say.
func (s *stampedReads) read(fd int, p []byte) (n int, came int64, errno unix.Errno) {
	s.part = unix.Iovec{Base: unsafe.SliceData(p), Len: uint64(len(p))}
	s.message = unix.Msghdr{Iov: &s.part, Iovlen: 1, Control: (*byte)(unsafe.Pointer(&s.control)), Controllen: uint64(unsafe.Sizeof(s.control))}
	count, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.message)), 0)
	const size = unix.SizeofCmsghdr + int(unsafe.Sizeof(unix.Timespec{}))
	header := (*unix.Cmsghdr)(unsafe.Pointer(&s.control))
	if errno != 0 || int(s.message.Controllen) < size || header.Level != unix.SOL_SOCKET || header.Type != unix.SO_TIMESTAMPNS {
		return int(count), 0, errno
	}
	stamped := (*unix.Timespec)(unsafe.Add(unsafe.Pointer(&s.control), unix.SizeofCmsghdr)).Nano()
	return int(count), stamped - s.ahead, 0
}

// compare compares the clocks before reads, each millisecond: that of the day may be set. The thread may stand still
// between two readings; of three, the two that were closest count.
func (s *stampedReads) compare(now int64) {
	if now-s.compared < int64(time.Millisecond) {
		return
	}
	s.ahead, s.compared = between(func() int64 { return time.Now().UnixNano() }, Now, 3), now
}
