//go:build !unix

package socket

import (
	"net"
	"syscall"
)

// Alive cannot check on this system: a closed connection shows when it is used.
func Alive(net.Conn) bool { return true }

// RawConn has no access to the socket on this system: it is read through net.
func RawConn(net.Conn) syscall.RawConn { return nil }

// Read and Write fail on this system.
func Read(int32, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }

// Write fails, too.
func Write(int32, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }
