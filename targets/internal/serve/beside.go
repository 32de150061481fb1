package serve

import (
	"context"
	"fmt"
	"net"
)

// Beside is a server of another protocol on a port of its own.
type Beside struct {
	Listener net.Listener
	Server   Server
}

// Server is such a server, as of grpc-go.
type Server interface {
	Serve(net.Listener) error
	// GracefulStop finishes what is in flight, Stop does not.
	GracefulStop()
	Stop()
}

// ListenBeside has a server listen on an address; without one it is not served.
func ListenBeside(ctx context.Context, address string, server Server) (*Beside, error) {
	if address == "" {
		return nil, nil
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen beside: %w", err)
	}
	return &Beside{ln, server}, nil
}

// Address is where it listens; empty without it.
func (b *Beside) Address() string {
	if b == nil {
		return ""
	}
	return b.Listener.Addr().String()
}
