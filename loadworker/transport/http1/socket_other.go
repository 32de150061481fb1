//go:build !unix

package http1

import (
	"net"
	"syscall"
)

// alive cannot check on this system: a closed connection shows when it is used.
func alive(net.Conn) bool { return true }

// rawConn has no access to the socket on this system: it is read through net.
func rawConn(net.Conn) syscall.RawConn { return nil }

func readNow(int32, []byte) (int, syscall.Errno)  { return 0, syscall.EINVAL }
func writeNow(int32, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }
