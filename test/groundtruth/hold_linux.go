package groundtruth

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"
)

// hold keeps a port until it is released: of two sockets that may share an address, the one that does not listen refuses
// no connection and takes none. Without it, another process can be given the port while the server has closed it.
func hold(address string) (release func(), at string, err error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Is4() {
		return nil, "", fmt.Errorf("address %q must be an IPv4 address and a port", address)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, "", fmt.Errorf("socket: %w", err)
	}
	release = sync.OnceFunc(func() { _ = unix.Close(fd) })
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}),
	)
	if err == nil {
		var name unix.Sockaddr
		if name, err = unix.Getsockname(fd); err == nil {
			return release, netip.AddrPortFrom(to.Addr(), uint16(name.(*unix.SockaddrInet4).Port)).String(), nil
		}
	}
	release()
	return nil, "", fmt.Errorf("listen on %s: %w", address, err)
}
