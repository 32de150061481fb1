package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// atOnce is how many requests are sent before responses are read.
const atOnce = 32

// sender has connections of which each carries one request at a time.
type sender struct {
	poll   int
	conns  []int // descriptors
	idle   []int
	events [256]unix.EpollEvent
	buffer [4096]byte
}

func open(t task) (s *sender, err error) {
	s = &sender{}
	if s.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	to, err := netip.ParseAddrPort(t.Address)
	if err != nil || !to.Addr().Is4() || t.Connections < 1 {
		s.close()
		return nil, fmt.Errorf("address %q must be IPv4 with a port, and connections %d positive", t.Address, t.Connections)
	}
	for range t.Connections {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			s.conns = append(s.conns, fd)
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
		}
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		}
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err == nil {
			err = unix.EpollCtl(s.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
		}
		if err != nil {
			s.close()
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	s.idle = append(s.idle, s.conns...)
	return s, nil
}

func (s *sender) close() {
	for _, fd := range append(s.conns, s.poll) {
		_ = unix.Close(fd)
	}
}

// send sends a request at each instant, and waits for the responses.
func (s *sender) send(times []int64) error {
	request := make([]byte, 0, 256)
	for i, at := range times {
		for due := at; len(s.idle) == 0 || i%atOnce == 0 || now() < due; {
			wait := time.Duration(due - now())
			if len(s.idle) == 0 {
				wait = time.Minute
			}
			if err := s.read(max(wait, 0)); err != nil {
				return err
			}
			if len(s.idle) > 0 && now() >= due {
				break
			}
		}
		request = append(request[:0], "GET /items/"...)
		request = strconv.AppendInt(request, int64(i), 10)
		request = append(request, " HTTP/1.1\r\nHost: target\r\n\r\n"...)
		fd := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if n, errno := call(unix.SYS_SENDTO, fd, request); errno != 0 || n < len(request) {
			return fmt.Errorf("send request %d: %w", i, errno)
		}
	}
	for len(s.idle) < len(s.conns) {
		if err := s.read(time.Minute); err != nil {
			return err
		}
	}
	return nil
}

// read waits for responses. Each is read at once: it is short.
func (s *sender) read(wait time.Duration) error {
	limit := unix.NsecToTimespec(int64(wait))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(s.poll), uintptr(unsafe.Pointer(&s.events[0])),
		uintptr(len(s.events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	if errno == unix.EINTR {
		return nil
	}
	if errno != 0 {
		return fmt.Errorf("epoll: %w", errno)
	}
	for i := range s.events[:n] {
		fd := int(s.events[i].Fd)
		if got, errno := call(unix.SYS_RECVFROM, fd, s.buffer[:]); errno != 0 || got == 0 {
			return fmt.Errorf("a response of %d bytes: %w", got, errno)
		}
		s.idle = append(s.idle, fd)
	}
	return nil
}

func call(number uintptr, fd int, p []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), errno
}

// now is the kernel's monotonic clock.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it exists, and the pointer is good
	return ts.Nano()
}
