package memory

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/test/bufconn"
)

// buffered is how many bytes a connection holds in each direction.
const buffered = 64 << 10

// Listener accepts connections in memory, each from another port of the loopback address.
type Listener struct {
	*bufconn.Listener
	mu   sync.Mutex
	port int
}

// Listen returns a listener.
func Listen() *Listener { return &Listener{Listener: bufconn.Listen(buffered)} }

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.port++
	return named{conn, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: l.port}}, nil
}

// named is a connection with the address of its other side.
type named struct {
	net.Conn
	remote net.Addr
}

func (c named) RemoteAddr() net.Addr { return c.remote }

// Dial connects to the listener, whatever the address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return l.DialContext(ctx)
}

// DialAddress is Dial as gRPC has it.
func (l *Listener) DialAddress(ctx context.Context, _ string) (net.Conn, error) {
	return l.DialContext(ctx)
}
