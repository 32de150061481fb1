//go:build !linux

package attack

import (
	"context"
	"net"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
)

// network needs epoll.
type network struct{}

func newNetwork(t *testing.T) *network {
	t.Skip("virtual time needs epoll")
	return nil
}

func (*network) deliver()                                               {}
func (*network) listen() net.Listener                                   { return nil }
func (*network) dial(context.Context, string, string) (net.Conn, error) { return nil, nil }
func (*network) clock() loop.Clock                                      { return nil }
