//go:build !unix

package transport

import "net"

// alive cannot look on this system: a closed connection shows when it is used.
func alive(net.Conn) bool { return true }
