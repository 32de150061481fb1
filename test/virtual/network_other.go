//go:build !linux

package virtual

import (
	"context"
	"net"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
)

// Network needs epoll.
type Network struct{}

// NewNetwork skips the test.
func NewNetwork(t testing.TB) *Network {
	t.Skip("virtual time needs epoll")
	return nil
}

// The methods of a Network, which cannot be made on this system.
func (*Network) Deliver()                                               {}
func (*Network) Listen() net.Listener                                   { return nil }
func (*Network) Dial(context.Context, string, string) (net.Conn, error) { return nil, nil }
func (*Network) Clock() loop.Clock                                      { return nil }
